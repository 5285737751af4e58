/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/fault/test_probe_cache.c, tests/core/test_calibration.c */
#include "cache_directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MAX_WRITING 3600 /* seconds; an older unfinished file has no writer any more */

/* ---- Directory --------------------------------------------------------------------------- */

static int make_directories(const char *path)
{
    char copy[PATH_MAX];
    size_t length = strlen(path);
    if (length >= sizeof copy)
        return 0;
    memcpy(copy, path, length + 1);
    for (char *slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(copy, 0700) && errno != EEXIST)
            return 0;
        *slash = '/';
    }
    return !mkdir(copy, 0700) || errno == EEXIST;
}

int cache_directory_open(const char *path, int make)
{
    struct stat st;
    if (path[0] != '/' || getauxval(AT_SECURE) || (make && !make_directories(path)))
        return -1;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0 && (fstat(fd, &st) || st.st_uid != geteuid() || (st.st_mode & 077))) {
        close(fd);
        fd = -1;
    }
    return fd;
}

#define ELSEWHERE "set COLLET_CACHE_DIR to a directory that is yours alone"

/* Why the directory of an open descriptor cannot be used, as a text; NULL: it can be used. */
static const char *fault_of(int fd, char mend[PATH_MAX + 32], const char *path)
{
    struct stat st;
    snprintf(mend, PATH_MAX + 32, ELSEWHERE);
    if (fstat(fd, &st))
        return strerror(errno);
    if (st.st_uid != geteuid())
        return "it belongs to another user";
    snprintf(mend, PATH_MAX + 32, "chmod 700 %s", path);
    if (st.st_mode & 077)
        return "others have access to it";
    return faccessat(fd, ".", W_OK | X_OK, AT_EACCESS) ? strerror(errno) : NULL;
}

int cache_directory_check(const char *path, char *why, size_t capacity)
{
    char mend[PATH_MAX + 32] = ELSEWHERE;
    const char *fault = NULL;
    *why = '\0';
    if (getauxval(AT_SECURE))
        return 1;
    if (!*path) {
        snprintf(why, capacity, "there is no home directory for the cache: " ELSEWHERE);
        return 0;
    }
    int fd = path[0] == '/' && make_directories(path)
                 ? open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                 : -1;
    if (fd >= 0)
        fault = fault_of(fd, mend, path);
    else
        fault = path[0] != '/' ? "it does not begin with /" : strerror(errno);
    if (fault)
        snprintf(
            why, capacity,
            "the directory of the cache, %s, cannot be used, so nothing is kept between processes (%s): "
            "%s",
            path, fault, mend);
    if (fd >= 0)
        close(fd);
    return !fault;
}

/* ---- Files ------------------------------------------------------------------------------- */

char *cache_file_read(int directory, const char *name, size_t most, size_t *length,
                      int64_t *written)
{
    struct stat st;
    char *text = NULL;
    int failed = 0,
        fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    *length = 0;
    if (fd < 0)
        return NULL;
    if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_uid != geteuid() || st.st_nlink != 1 ||
        (st.st_mode & 077))
        failed = EPERM;
    else if (st.st_size <= 0 || (uint64_t)st.st_size > most)
        failed = st.st_size > 0 ? EFBIG : ENODATA;
    else if (!(text = malloc((size_t)st.st_size)))
        failed = ENOMEM;
    else if (TEMP_FAILURE_RETRY(read(fd, text, (size_t)st.st_size)) != st.st_size)
        failed = EIO;
    close(fd);
    errno = failed;
    if (failed) {
        free(text);
        return NULL;
    }
    *length = (size_t)st.st_size;
    if (written)
        *written = st.st_mtim.tv_sec;
    return text;
}

/* Writes the text; if `text` is NULL, only allocates the file's blocks. Returns 0 or errno. */
static int write_new_file(int directory, const char *name, const char *text, size_t length)
{
    struct rlimit limit;
    /* A write beyond the limit of file sizes would end the program (SIGXFSZ). */
    if (getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur < length)
        return EFBIG;
    int fd = openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return errno;
    int failed;
    errno = ENOSPC; /* the error if a write is short */
    if (text)
        failed = TEMP_FAILURE_RETRY(write(fd, text, length)) == (ssize_t)length ? 0 : errno;
    else
        failed = posix_fallocate(fd, 0, (off_t)length);
    return close(fd) && !failed ? errno : failed;
}

static void name_unfinished(const char *name, char unfinished[NAME_MAX + 1])
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    snprintf(unfinished, NAME_MAX + 1, ".%s.%ld.%ld", name, (long)getpid(), t.tv_nsec);
}

int cache_file_try(int directory, const char *name, size_t length)
{
    char temporary[NAME_MAX + 1];
    name_unfinished(name, temporary);
    int failed = write_new_file(directory, temporary, NULL, length);
    if (failed != EEXIST)
        unlinkat(directory, temporary, 0);
    return failed;
}

int cache_file_replace(int directory, const char *name, const char *text)
{
    char temporary[NAME_MAX + 1];
    name_unfinished(name, temporary);
    int failed = write_new_file(directory, temporary, text, strlen(text));
    if (!failed && renameat(directory, temporary, directory, name))
        failed = errno;
    if (failed)
        unlinkat(directory, temporary, 0);
    return failed;
}

/* ---- Removing ---------------------------------------------------------------------------- */

static int is_older(struct timespec a, struct timespec b)
{
    return a.tv_sec != b.tv_sec ? a.tv_sec < b.tv_sec : a.tv_nsec < b.tv_nsec;
}

void cache_directory_prune(int directory, const char *prefix, int most, const char *kept)
{
    char oldest[NAME_MAX + 1] = "";
    struct timespec time_of_oldest = {0};
    int count = 0, copy = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *entries = copy < 0 ? NULL : fdopendir(copy);
    struct dirent *entry;
    struct stat st;
    size_t length = strlen(prefix);
    while (entries && (entry = readdir(entries))) {
        const char *name = entry->d_name;
        int unfinished = name[0] == '.' && !strncmp(name + 1, prefix, length);
        if (fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW))
            continue;
        if (unfinished && st.st_mtim.tv_sec < time(NULL) - MAX_WRITING)
            unlinkat(directory, name, 0);
        if (strncmp(name, prefix, length) != 0 || strlen(name) >= sizeof oldest)
            continue;
        count++;
        if (strcmp(name, kept) != 0 && (!*oldest || is_older(st.st_mtim, time_of_oldest))) {
            memcpy(oldest, name, strlen(name) + 1);
            time_of_oldest = st.st_mtim;
        }
    }
    if (entries)
        closedir(entries);
    else if (copy >= 0)
        close(copy);
    if (count > most && *oldest)
        unlinkat(directory, oldest, 0);
}
