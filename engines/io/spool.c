/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_io_spool.c, tests/engines/test_io_system_calls.c */
#include "spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#define BUFFER_BYTES ((size_t)64 * 1024)
#define NAME_ATTEMPTS 100
#define ACCESS_LIST "system.posix_acl_access"

struct io_spool {
    char *path;      /* the final path */
    char *directory; /* the directory of `path` */
    char *temporary; /* "DIR/.NAME.xxxxxxxx" */
    int fd;
    int lock;  /* descriptor that keeps the file locked until it has its final name */
    int named; /* 1: `temporary` exists */
    int64_t position;
    int64_t size;
    size_t buffered; /* bytes of `buffer`, to be written before `position` */
    uint8_t *buffer;
};

/* ---- Names ------------------------------------------------------------------------------- */

/* Bytes of `path` up to and including its last slash. */
static size_t directory_length(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? (size_t)(slash - path) + 1 : 0;
}

static const char *base_name(const char *path)
{
    return path + directory_length(path);
}

static void set_temporary(io_spool *spool)
{
    size_t directory = directory_length(spool->path);
    uint32_t number = 0;

    if (getrandom(&number, sizeof number, GRND_NONBLOCK) != (ssize_t)sizeof number)
        number = (uint32_t)getpid() ^ (number + 1);
    sprintf(spool->temporary, "%.*s.%s.%08x", (int)directory, spool->path, base_name(spool->path),
            (unsigned)number);
}

static collet_status make_names(io_spool *spool, const char *path, collet_error *err)
{
    size_t directory = directory_length(path);

    spool->path = strdup(path);
    spool->directory = directory > 0 ? strndup(path, directory) : strdup("./");
    spool->temporary = malloc(strlen(path) + sizeof "..00000000");
    spool->buffer = malloc(BUFFER_BYTES);
    if (!spool->path || !spool->directory || !spool->temporary || !spool->buffer)
        return collet_fail(err, COLLET_NO_MEMORY, "%s: no memory to write it", path);
    return COLLET_OK;
}

/* ---- Making the file --------------------------------------------------------------------- */

/* If the new file replaces a file of the user, other users have no access until keep_rights has copied the old file's
 * mode. */
static mode_t first_mode(const io_spool *spool)
{
    struct stat old;

    return stat(spool->path, &old) == 0 && old.st_uid == geteuid() ? 0600 : 0666;
}

static int open_unnamed(const io_spool *spool)
{
    return open(spool->directory, O_TMPFILE | O_RDWR | O_CLOEXEC, first_mode(spool));
}

/* Gives the unnamed file `fd` the name `temporary`; fd -1: creates a file of that name. Returns the
 * result of linkat or open; errno is set on failure. */
static int make_name(io_spool *spool, int fd)
{
    char source[64];
    int code = -1;

    snprintf(source, sizeof source, "/proc/self/fd/%d", fd);
    for (int i = 0; i < NAME_ATTEMPTS; i++) {
        set_temporary(spool);
        code = fd < 0 ? open(spool->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC,
                             first_mode(spool))
                      : linkat(AT_FDCWD, source, AT_FDCWD, spool->temporary, AT_SYMLINK_FOLLOW);
        if (code >= 0 || errno != EEXIST)
            break;
    }
    return code;
}

/* Removes the file if no process has locked it. */
static void remove_unlocked(int directory, const char *name)
{
    struct stat st;
    int fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

    if (fd < 0)
        return;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && flock(fd, LOCK_EX | LOCK_NB) == 0)
        unlinkat(directory, name, 0);
    close(fd);
}

/* Removes temporary files for the same path that killed programs left behind. */
static void remove_leftovers(const io_spool *spool)
{
    const char *name = base_name(spool->path);
    size_t length = strlen(name);
    DIR *entries = opendir(spool->directory);
    struct dirent *entry;

    while (entries && (entry = readdir(entries)) != NULL) {
        const char *found = entry->d_name;
        if (found[0] == '.' && strncmp(found + 1, name, length) == 0 && found[length + 1] == '.' &&
            strlen(found + length + 2) == 8 && strspn(found + length + 2, "0123456789abcdef") == 8)
            remove_unlocked(dirfd(entries), found);
    }
    if (entries)
        closedir(entries);
}

/* Creates a named file. If another program took the file for a leftover and removed it before it was locked, creates
 * it again. */
static int open_named(io_spool *spool)
{
    struct stat st = {.st_nlink = 1};
    int fd;

    do {
        fd = make_name(spool, -1);
        if (fd >= 0 && (flock(fd, LOCK_SH) != 0 || fstat(fd, &st) != 0))
            st.st_nlink = 1; /* without locks no program removes it */
    } while (fd >= 0 && st.st_nlink == 0 && close(fd) == 0);
    return fd;
}

/* 1 if an unnamed file can get a name later: this needs /proc, and fails on some network file
 * systems. Tested before the work, because a failure after it would lose the results. */
static int can_link_later(io_spool *spool)
{
    int fd = open_unnamed(spool);
    int linked = fd >= 0 && make_name(spool, fd) == 0;

    if (linked)
        unlink(spool->temporary);
    if (fd >= 0)
        close(fd);
    return linked;
}

collet_status io_spool_refused(const char *path, int code, collet_error *err)
{
    char directory[256];
    const char *why = strerror(code);

    snprintf(directory, sizeof directory, "%.*s", (int)directory_length(path), path);
    if (directory[0] == '\0')
        strcpy(directory, "./");
    if (code == ENOENT && access(directory, F_OK) != 0)
        return collet_fail(err, COLLET_IO,
                           "%s: cannot be written: there is no directory %s; create it", path,
                           directory);
    if (code == ENOENT || code == EACCES || code == EROFS || code == EPERM)
        return collet_fail(
            err, COLLET_IO, "%s: cannot be written: %s in %s (%s); choose another directory", path,
            code == ENOENT ? "no file can be created" : "no permission to write", directory, why);
    return collet_fail(err, COLLET_IO, "%s: cannot be written: %s", path, why);
}

static collet_status check_target(const char *path, collet_error *err)
{
    struct stat st;
    char target[sizeof "/proc/" - 1];
    size_t n = strlen(path);

    if (n == 0 || path[n - 1] == '/')
        return collet_fail(err, COLLET_IO,
                           "'%s': not the name of a file; give a path that does not end in /",
                           path);
    /* A rename would replace a device, or /dev/stdout, which is a link to an open file. */
    if (readlink(path, target, sizeof target) == sizeof target &&
        memcmp(target, "/proc/", sizeof target) == 0)
        return collet_fail(
            err, COLLET_IO,
            "%s: this is a link to an open file, but the output must be a regular file", path);
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
        return collet_fail(err, COLLET_IO, "%s: this is %s, but the output must be a regular file",
                           path, S_ISDIR(st.st_mode) ? "a directory" : "a device or pipe");
    return COLLET_OK;
}

collet_status io_spool_check_input(const char *output, const char *input, collet_error *err)
{
    struct stat first, second;

    if (output && input && stat(output, &first) == 0 && stat(input, &second) == 0 &&
        first.st_dev == second.st_dev && first.st_ino == second.st_ino)
        return collet_fail(err, COLLET_INVALID,
                           "the output %s would replace the input %s; choose another name", output,
                           input);
    return COLLET_OK;
}

collet_status io_spool_create(const char *path, int32_t kind, io_spool **out, collet_error *err)
{
    *out = NULL;
    collet_status status = check_target(path, err);
    if (status != COLLET_OK)
        return status;
    io_spool *spool = calloc(1, sizeof *spool);
    if (!spool)
        return collet_fail(err, COLLET_NO_MEMORY, "%s: no memory to write it", path);
    spool->fd = spool->lock = -1;
    status = make_names(spool, path, err);
    if (status != COLLET_OK)
        goto fail;
    if (kind != IO_SPOOL_SCRATCH)
        remove_leftovers(spool);
    if (kind == IO_SPOOL_SCRATCH || (kind == IO_SPOOL_OUTPUT && can_link_later(spool)))
        spool->fd = open_unnamed(spool);
    if (spool->fd < 0) {
        spool->fd = open_named(spool);
        spool->named = spool->fd >= 0;
    }
    if (spool->fd < 0) {
        status = io_spool_refused(path, errno, err);
        goto fail;
    }
    /* A shared lock, because readers may also lock the file as soon as it has its name. */
    flock(spool->fd, LOCK_SH | LOCK_NB);
    if (kind == IO_SPOOL_SCRATCH && spool->named) {
        unlink(spool->temporary);
        spool->named = 0;
    }
    *out = spool;
    return COLLET_OK;
fail:
    io_spool_free(spool);
    return status;
}

void io_spool_free(io_spool *spool)
{
    if (!spool)
        return;
    if (spool->fd >= 0)
        close(spool->fd);
    if (spool->named)
        unlink(spool->temporary);
    if (spool->lock >= 0)
        close(spool->lock);
    free(spool->path);
    free(spool->directory);
    free(spool->temporary);
    free(spool->buffer);
    free(spool);
}

/* ---- Contents ---------------------------------------------------------------------------- */

static collet_status write_failed(const io_spool *spool, int code, collet_error *err)
{
    if (code == ENOSPC || code == EDQUOT)
        return collet_fail(err, COLLET_IO,
                           "%s: the disk is full (%s) after %lld bytes; nothing was left behind",
                           spool->path, strerror(code), (long long)spool->size);
    return collet_fail(err, COLLET_IO, "%s: writing failed after %lld bytes: %s%s", spool->path,
                       (long long)spool->size, strerror(code),
                       code == EFBIG ? " (limit on the size of files, ulimit -f)" : "");
}

static collet_status write_fully(io_spool *spool, const uint8_t *bytes, size_t n, int64_t offset,
                                 collet_error *err)
{
    struct rlimit limit;

    /* A write beyond this limit would end the program by SIGXFSZ. */
    if (!getrlimit(RLIMIT_FSIZE, &limit) && (uint64_t)offset + n > limit.rlim_cur)
        return write_failed(spool, EFBIG, err);
    while (n > 0) {
        ssize_t written = pwrite(spool->fd, bytes, n, (off_t)offset);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return write_failed(spool, written < 0 ? errno : ENOSPC, err);
        bytes += written;
        offset += written;
        n -= (size_t)written;
    }
    if (offset > spool->size)
        spool->size = offset;
    return COLLET_OK;
}

collet_status io_spool_flush(io_spool *spool, collet_error *err)
{
    size_t n = spool->buffered;

    spool->buffered = 0;
    return write_fully(spool, spool->buffer, n, spool->position - (int64_t)n, err);
}

collet_status io_spool_write(io_spool *spool, const void *bytes, size_t n, collet_error *err)
{
    if (n > BUFFER_BYTES - spool->buffered) {
        collet_status status = io_spool_flush(spool, err);
        if (status != COLLET_OK)
            return status;
    }
    if (n >= BUFFER_BYTES) {
        collet_status status = write_fully(spool, bytes, n, spool->position, err);
        if (status != COLLET_OK)
            return status;
    } else if (n > 0) {
        memcpy(spool->buffer + spool->buffered, bytes, n);
        spool->buffered += n;
    }
    spool->position += (int64_t)n;
    return COLLET_OK;
}

collet_status io_spool_seek(io_spool *spool, int64_t position, collet_error *err)
{
    collet_status status = io_spool_flush(spool, err);

    spool->position = position;
    return status;
}

const char *io_spool_path(const io_spool *spool)
{
    return spool->path;
}

const char *io_spool_temporary(const io_spool *spool)
{
    return spool->temporary;
}

int64_t io_spool_position(const io_spool *spool)
{
    return spool->position;
}

int64_t io_spool_size(const io_spool *spool)
{
    int64_t written = spool->buffered > 0 ? spool->position : 0;

    return written > spool->size ? written : spool->size;
}

collet_status io_spool_read(io_spool *spool, int64_t offset, void *bytes, size_t n,
                            collet_error *err)
{
    uint8_t *to = bytes;

    while (n > 0) {
        ssize_t got = pread(spool->fd, to, n, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return collet_fail(err, COLLET_IO, "%s: reading back at byte %lld failed: %s",
                               spool->path, (long long)offset,
                               got < 0 ? strerror(errno) : "the file is too short");
        to += got;
        offset += got;
        n -= (size_t)got;
    }
    return COLLET_OK;
}

/* ---- Completion -------------------------------------------------------------------------- */

/* Copies mode, group and access control list of the file that is replaced. If another user owns it:
 * no list, and at most the permissions that umask allows. If the group cannot be set, group and others get only the
 * permissions that both had. If the list cannot be set, group and others get no permissions. */
static void keep_rights(const io_spool *spool)
{
    struct stat old, new;
    char list[4096];

    if (stat(spool->path, &old) != 0 || fstat(spool->fd, &new) != 0)
        return;
    int own = old.st_uid == new.st_uid;
    mode_t mode = (old.st_mode | S_IRUSR | S_IWUSR) & (own ? 0777 : new.st_mode & 0777);
    mode_t both = mode >> 3 & mode & 7;
    if (fchown(spool->fd, (uid_t)-1, old.st_gid) != 0)
        mode = (mode & S_IRWXU) | both << 3 | both;
    ssize_t size = getxattr(spool->path, ACCESS_LIST, list, sizeof list);
    if (size > 0 ? !own || fsetxattr(spool->fd, ACCESS_LIST, list, (size_t)size, 0) != 0
                 : errno == ERANGE)
        mode &= S_IRWXU;
    else if (size < 0) /* the old file has no list: remove a list that the new file inherited from the directory */
        (void)fremovexattr(spool->fd, ACCESS_LIST);
    (void)fchmod(spool->fd, mode);
}

collet_status io_spool_link(io_spool *spool, collet_error *err)
{
    collet_status status = io_spool_flush(spool, err);
    if (status != COLLET_OK)
        return status;
    keep_rights(spool);
    if (fsync(spool->fd) != 0)
        return write_failed(spool, errno, err);
    if (!spool->named) {
        if (make_name(spool, spool->fd) != 0)
            return collet_fail(err, COLLET_IO, "%s: the complete file cannot be given its name: %s",
                               spool->path, strerror(errno));
        spool->named = 1;
    }
    int fd = spool->fd;
    spool->fd = -1;
    spool->lock = dup(fd);
    /* Network file systems report here that they could not store data. */
    if (close(fd) != 0 && errno != EINTR)
        return write_failed(spool, errno, err);
    return COLLET_OK;
}

static collet_status exists(const char *path, collet_error *err)
{
    return collet_fail(err, COLLET_IO,
                       "%s already exists: choose another name, or replace it (--force)", path);
}

collet_status io_spool_check_output(const char *path, int replace, collet_error *err)
{
    struct stat facts;

    return !replace && lstat(path, &facts) == 0 ? exists(path, err) : COLLET_OK;
}

collet_status io_spool_rename(io_spool *spool, int replace, collet_error *err)
{
    int failed = replace ? rename(spool->temporary, spool->path)
                         : renameat2(AT_FDCWD, spool->temporary, AT_FDCWD, spool->path,
                                     RENAME_NOREPLACE);

    /* Some file systems do not support RENAME_NOREPLACE. */
    if (failed && !replace && (errno == EINVAL || errno == ENOSYS)) {
        if (io_spool_check_output(spool->path, 0, err) != COLLET_OK)
            return COLLET_IO;
        failed = rename(spool->temporary, spool->path);
    }
    if (failed && !replace && errno == EEXIST)
        return exists(spool->path, err);
    if (failed)
        return collet_fail(err, COLLET_IO, "%s: cannot be replaced: %s", spool->path,
                           strerror(errno));
    spool->named = 0;
    return COLLET_OK;
}

static int open_directory(const io_spool *spool)
{
    return open(spool->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

collet_status io_spool_sync(const io_spool *spool, collet_error *err)
{
    int directory = open_directory(spool);
    int code = directory < 0 || fsync(directory) == 0 ? 0 : errno;

    if (directory >= 0)
        close(directory);
    /* `code` is 0, too, if the directory may not be read. EINVAL, ENOTSUP: the file system cannot flush
     * directories. */
    if (code == 0 || code == EINVAL || code == ENOTSUP)
        return COLLET_OK;
    return collet_fail(
        err, COLLET_IO,
        "%s: the file is complete, but its directory %s cannot be flushed to the disk: %s",
        spool->path, spool->directory, strerror(code));
}

/* First gives the old file at the path of the last spool the name `old`, so that it can be restored if the
 * first rename fails. */
static collet_status rename_in_order(io_spool *const *spools, size_t n, const char *old,
                                     collet_error *err)
{
    const char *last = spools[n - 1]->path;
    collet_error why;

    int kept = link(last, old) == 0;
    if (unlink(last) != 0 && errno != ENOENT) {
        int code = errno;
        if (kept)
            unlink(old);
        return collet_fail(err, COLLET_IO, "%s: cannot be replaced: %s", last, strerror(code));
    }
    for (size_t i = 0; i < n; i++) {
        collet_status status = io_spool_rename(spools[i], 1, &why);
        if (status != COLLET_OK && i == 0 && kept && rename(old, last) == 0)
            return collet_fail(err, status, "%.900s; nothing was replaced", why.text);
        if (status != COLLET_OK)
            return collet_fail(
                err, status, "%.900s; replaced: %zu of %zu files%s%s; %s was removed", why.text, i,
                n, i > 0 ? ", up to " : "", i > 0 ? base_name(spools[i - 1]->path) : "", last);
        if (i == 0 && kept)
            unlink(old);
    }
    return io_spool_sync(spools[0], err);
}

static collet_status rename_set(io_spool *const *spools, size_t n, int replace, collet_error *err)
{
    const char *last = spools[n - 1]->path;
    struct stat st;

    if (!replace && lstat(last, &st) == 0)
        return collet_fail(err, COLLET_IO,
                           "%s was not replaced: another program has written it in the meantime; "
                           "choose another name",
                           last);
    char *old = strdup(spools[n - 1]->temporary);
    if (!old)
        return collet_fail(err, COLLET_NO_MEMORY, "%s: no memory to replace it", last);
    char *digit = old + strlen(old) - 1; /* `old` is a temporary name, too: remove_leftovers finds it */
    *digit = *digit == '0' ? '1' : '0';
    collet_status status = rename_in_order(spools, n, old, err);
    free(old);
    return status;
}

/* Waits for at most two seconds: renaming a set takes milliseconds, but any program may hold the
 * lock for longer. */
static void lock_directory(int directory)
{
    for (int i = 0; i < 200 && flock(directory, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
         i++)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
}

collet_status io_spool_rename_all(io_spool *const *spools, size_t n, int replace, collet_error *err)
{
    int directory = open_directory(spools[0]);

    if (directory >= 0)
        lock_directory(directory);
    collet_status status = rename_set(spools, n, replace, err);
    if (directory >= 0)
        close(directory);
    return status;
}

collet_status io_spool_publish(io_spool *spool, int replace, collet_error *err)
{
    collet_status status = io_spool_link(spool, err);

    if (status == COLLET_OK)
        status = io_spool_rename(spool, replace, err);
    return status == COLLET_OK ? io_spool_sync(spool, err) : status;
}
