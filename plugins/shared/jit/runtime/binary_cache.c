/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/opencl/test_opencl.c, tests/cuda/test_cuda_launch.c */
#include "binary_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MAGIC 0x31656c656e72656bull
#define MAX_BINARY ((uint64_t)64 << 20)
/* A crash may leave temporary files behind; they are removed after this many seconds. */
#define STALE 600

/* A file has this header, then the text of the key, then the binary. */
typedef struct header {
    uint64_t magic;
    uint64_t key_bytes;
    uint64_t bytes;
    uint64_t checksum; /* hash of key and binary */
} header;

uint64_t binary_hash(uint64_t hash, const void *data, uint64_t bytes)
{
    const unsigned char *p = data;
    hash ^= bytes * 0x9e3779b97f4a7c15ull;
    for (; bytes >= 8; bytes -= 8, p += 8) {
        uint64_t word;
        memcpy(&word, p, sizeof word);
        hash = (hash ^ word) * 0xff51afd7ed558ccdull;
        hash ^= hash >> 32;
    }
    for (; bytes; bytes--, p++) {
        hash = (hash ^ *p) * 0xff51afd7ed558ccdull;
        hash ^= hash >> 32;
    }
    return hash;
}

static uint64_t checksum(const char *key, const void *binary, uint64_t bytes)
{
    return binary_hash(binary_hash(MAGIC, key, strlen(key)), binary, bytes);
}

static void file_name(const char *key, char name[64])
{
    uint64_t first = binary_hash(1, key, strlen(key)), second = binary_hash(2, key, strlen(key));
    snprintf(name, 64, "%016llx%016llx.bin", (unsigned long long)first, (unsigned long long)second);
}

/* ---- The directory ------------------------------------------------------------------------- */

static int make_directories(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        int fine = !mkdir(path, 0700) || errno == EEXIST;
        *slash = '/';
        if (!fine)
            return 0;
    }
    return !mkdir(path, 0700) || errno == EEXIST;
}

int binary_cache_directory(const collet_host *host, char path[PATH_MAX])
{
    const char *on = host->config(host, "cache"), *base = host->config(host, "cache_dir");
    if (getauxval(AT_SECURE) || !base || base[0] != '/' || (on && strcmp(on, "on") != 0))
        return 0;
    int length = snprintf(path, PATH_MAX, "%s/kernels", base);
    return length > 0 && length < PATH_MAX;
}

/* Opens the cache directory. Returns -1 unless the directory belongs to this user and nobody else has access. */
static int open_directory(const collet_host *host, int make)
{
    char path[PATH_MAX];
    struct stat st;
    if (!binary_cache_directory(host, path) || (make && !make_directories(path)))
        return -1;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0 && (fstat(fd, &st) || st.st_uid != geteuid() || (st.st_mode & 077))) {
        close(fd);
        fd = -1;
    }
    return fd;
}

int binary_cache_usable(const collet_host *host)
{
    int fd = open_directory(host, 1), usable = fd >= 0 && !faccessat(fd, ".", W_OK, AT_EACCESS);
    if (fd >= 0)
        close(fd);
    return usable;
}

/* ---- Reading ------------------------------------------------------------------------------- */

static int is_own_file(int fd, uint64_t *bytes)
{
    struct stat st;
    if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_uid != geteuid() || st.st_nlink != 1 ||
        (st.st_mode & 077) || st.st_size < 0)
        return 0;
    *bytes = (uint64_t)st.st_size;
    return 1;
}

/* The binary of an open file, or NULL. */
static void *read_binary(FILE *file, const char *key, uint64_t *bytes)
{
    header h;
    uint64_t size, key_bytes = strlen(key);
    char *text = NULL, *binary = NULL;
    if (!is_own_file(fileno(file), &size) || fread(&h, sizeof h, 1, file) != 1 ||
        h.magic != MAGIC || h.key_bytes != key_bytes || h.bytes == 0 || h.bytes > MAX_BINARY ||
        size != sizeof h + h.key_bytes + h.bytes)
        return NULL;
    text = malloc(key_bytes + 1);
    binary = malloc(h.bytes);
    int fine = text && binary && fread(text, key_bytes, 1, file) == 1 &&
               !memcmp(text, key, key_bytes) && fread(binary, h.bytes, 1, file) == 1 &&
               checksum(key, binary, h.bytes) == h.checksum;
    free(text);
    if (!fine) {
        free(binary);
        return NULL;
    }
    *bytes = h.bytes;
    return binary;
}

void *binary_cache_get(const collet_host *host, const char *key, uint64_t *bytes)
{
    char name[64];
    int directory = open_directory(host, 0);
    if (directory < 0)
        return NULL;
    file_name(key, name);
    int fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    FILE *file = fd >= 0 ? fdopen(fd, "rb") : NULL;
    void *binary = file ? read_binary(file, key, bytes) : NULL;
    /* Sets the modification time to the time of this use: eviction removes the files used least recently. */
    if (binary)
        (void)futimens(fd, NULL);
    if (file)
        (void)fclose(file);
    else if (fd >= 0)
        close(fd);
    close(directory);
    return binary;
}

void binary_cache_drop(const collet_host *host, const char *key)
{
    char name[64];
    int directory = open_directory(host, 0);
    if (directory < 0)
        return;
    file_name(key, name);
    (void)unlinkat(directory, name, 0);
    close(directory);
}

/* ---- Writing ------------------------------------------------------------------------------- */

typedef struct kept {
    char name[64];
    struct timespec used;
    uint64_t bytes;
} kept;

static int by_age(const void *left, const void *right)
{
    const struct timespec *a = &((const kept *)left)->used, *b = &((const kept *)right)->used;
    if (a->tv_sec != b->tv_sec)
        return a->tv_sec < b->tv_sec ? -1 : 1;
    return a->tv_nsec < b->tv_nsec ? -1 : a->tv_nsec > b->tv_nsec;
}

/* Lists all binaries of the directory, oldest first, and removes abandoned temporary files. */
static uint64_t list_files(int directory, DIR *d, kept *files, uint64_t most, uint64_t *bytes)
{
    uint64_t count = 0;
    time_t now = time(NULL);
    for (struct dirent *entry = readdir(d); entry && count < most; entry = readdir(d)) {
        struct stat st;
        size_t length = strlen(entry->d_name);
        if (length >= sizeof files->name || entry->d_name[0] == '\0' ||
            fstatat(directory, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
            continue;
        if (entry->d_name[0] == '.') {
            if (now - st.st_mtime > STALE)
                (void)unlinkat(directory, entry->d_name, 0);
            continue;
        }
        memcpy(files[count].name, entry->d_name, length + 1);
        files[count].used = st.st_mtim;
        files[count].bytes = (uint64_t)st.st_size;
        *bytes += (uint64_t)st.st_size;
        count++;
    }
    qsort(files, count, sizeof *files, by_age);
    return count;
}

static void sweep(int directory)
{
    const uint64_t most = 2 * BINARY_CACHE_FILES;
    uint64_t bytes = 0;
    int copy = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = copy >= 0 ? fdopendir(copy) : NULL;
    if (!d) {
        if (copy >= 0)
            close(copy);
        return;
    }
    kept *files = malloc(most * sizeof *files);
    uint64_t count = files ? list_files(directory, d, files, most, &bytes) : 0;
    for (uint64_t i = 0;
         i < count && (count - i > BINARY_CACHE_FILES || bytes > BINARY_CACHE_BYTES); i++) {
        (void)unlinkat(directory, files[i].name, 0);
        bytes -= files[i].bytes;
    }
    free(files);
    closedir(d);
}

void binary_cache_put(const collet_host *host, const char *key, const void *binary, uint64_t bytes)
{
    char name[64], temporary[128];
    struct timespec t;
    if (!bytes || bytes > MAX_BINARY)
        return;
    int directory = open_directory(host, 1);
    if (directory < 0)
        return;
    file_name(key, name);
    clock_gettime(CLOCK_MONOTONIC, &t);
    snprintf(temporary, sizeof temporary, ".%.8s.%ld.%p.%ld", name, (long)getpid(),
             (void *)&temporary, t.tv_nsec);
    int fd =
        openat(directory, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    FILE *file = fd >= 0 ? fdopen(fd, "wb") : NULL;
    if (file) {
        header h = {MAGIC, strlen(key), bytes, checksum(key, binary, bytes)};
        int fine = fwrite(&h, sizeof h, 1, file) == 1 && fwrite(key, h.key_bytes, 1, file) == 1 &&
                   fwrite(binary, bytes, 1, file) == 1;
        fine = !fclose(file) && fine;
        if (!fine || renameat(directory, temporary, directory, name))
            (void)unlinkat(directory, temporary, 0);
    } else if (fd >= 0) {
        close(fd);
        (void)unlinkat(directory, temporary, 0);
    }
    sweep(directory);
    close(directory);
}
