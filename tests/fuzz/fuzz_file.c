/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sanitizer/asan_interface.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>

#define MAPPING_MOST ((size_t)1 << 24)
#define GUARD ((size_t)1 << 16) /* a multiple of every page's size */

static struct {
    const uint8_t *data;
    size_t size;
    const char *magic;
    uint8_t *guard; /* inaccessible memory; MAPPING_MOST usable bytes precede it */
    uint8_t *mapped;
    int opened; /* descriptors */
} file;

void fuzz_file_begin(const uint8_t *data, size_t size, const char *magic)
{
    file.data = data;
    file.size = size;
    file.magic = size >= 4 ? magic : NULL;
}

void fuzz_file_end(void)
{
    if (file.opened != 0 || file.mapped)
        abort();
}

static void copy(void *to, size_t offset, size_t length)
{
    memcpy(to, file.data + offset, length);
    for (size_t i = offset; file.magic && i < 4 && i < offset + length; i++)
        ((char *)to)[i - offset] = file.magic[i];
}

/* ---- System calls -------------------------------------------------------------------------- */

/* Declares the wrappers of `name` and of `name`64, its name with _FILE_OFFSET_BITS=64. They are
 * exported because shared libraries, such as a sanitizer's, refer to `name` too. */
#define WRAP(returns, name, ...)                                                                   \
    returns __real_##name(__VA_ARGS__);                                                            \
    __attribute__((visibility("default"))) returns __wrap_##name(__VA_ARGS__);                     \
    __attribute__((visibility("default"), alias("__wrap_" #name)))                                 \
    returns __wrap_##name##64(__VA_ARGS__)

WRAP(int, open, const char *path, int flags, ...);
WRAP(int, close, int fd);
WRAP(int, fstat, int fd, struct stat *st);
WRAP(ssize_t, pread, int fd, void *to, size_t length, off_t offset);
WRAP(int, posix_fadvise, int fd, off_t offset, off_t length, int advice);
WRAP(void *, mmap, void *at, size_t length, int protection, int flags, int fd, off_t offset);
WRAP(int, munmap, void *at, size_t length);
WRAP(int, madvise, void *at, size_t length, int advice);

int __wrap_open(const char *path, int flags, ...)
{
    mode_t mode = 0;
    va_list arguments;

    if (strcmp(path, FUZZ_PATH) == 0) {
        file.opened++;
        return FUZZ_DESCRIPTOR;
    }
    va_start(arguments, flags);
    if (flags & O_CREAT)
        mode = va_arg(arguments, mode_t);
    va_end(arguments);
    return __real_open(path, flags, mode);
}

int __wrap_close(int fd)
{
    if (fd != FUZZ_DESCRIPTOR)
        return __real_close(fd);
    file.opened--;
    return 0;
}

int __wrap_fstat(int fd, struct stat *st)
{
    if (fd != FUZZ_DESCRIPTOR)
        return __real_fstat(fd, st);
    memset(st, 0, sizeof *st);
    st->st_mode = S_IFREG | 0600;
    st->st_size = (off_t)file.size;
    return 0;
}

ssize_t __wrap_pread(int fd, void *to, size_t length, off_t offset)
{
    size_t at = (size_t)offset;

    if (fd != FUZZ_DESCRIPTOR)
        return __real_pread(fd, to, length, offset);
    if (offset < 0) {
        errno = EINVAL;
        return -1;
    }
    if (at > file.size)
        at = file.size;
    if (length > file.size - at)
        length = file.size - at;
    copy(to, at, length);
    return (ssize_t)length;
}

int __wrap_posix_fadvise(int fd, off_t offset, off_t length, int advice)
{
    return fd == FUZZ_DESCRIPTOR ? 0 : __real_posix_fadvise(fd, offset, length, advice);
}

static void make_room(void)
{
    uint8_t *room = __real_mmap(NULL, MAPPING_MOST + GUARD, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (room == MAP_FAILED || mprotect(room + MAPPING_MOST, GUARD, PROT_NONE) != 0)
        abort();
    file.guard = room + MAPPING_MOST;
    ASAN_POISON_MEMORY_REGION(room, MAPPING_MOST);
}

void *__wrap_mmap(void *at, size_t length, int protection, int flags, int fd, off_t offset)
{
    if (fd != FUZZ_DESCRIPTOR)
        return __real_mmap(at, length, protection, flags, fd, offset);
    if (!file.guard)
        make_room();
    if (file.mapped || offset != 0 || length != file.size || length > MAPPING_MOST)
        abort();
    file.mapped = file.guard - (length + 7) / 8 * 8; /* aligned for what parsers read */
    ASAN_UNPOISON_MEMORY_REGION(file.mapped, length);
    copy(file.mapped, 0, length);
    return file.mapped;
}

int __wrap_munmap(void *at, size_t length)
{
    if (!at || at != file.mapped)
        return __real_munmap(at, length);
    ASAN_POISON_MEMORY_REGION(at, length);
    file.mapped = NULL;
    return 0;
}

/* Dropped pages of a private mapping are read again from the file. */
int __wrap_madvise(void *at, size_t length, int advice)
{
    if (file.mapped && (uint8_t *)at >= file.mapped && (uint8_t *)at < file.guard)
        return 0;
    return __real_madvise(at, length, advice);
}
