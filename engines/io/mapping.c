/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_io_weights.c, tests/engines/test_io_system_calls.c */
#include "mapping.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct io_mapping {
    uint8_t *data;
    uint64_t size;
    uint64_t page;
    char *path;
    atomic_int holders;
};

collet_status io_file_open(const char *path, int *fd, int64_t *size, collet_error *err)
{
    struct stat st;

    /* NONBLOCK, because opening a pipe would wait for its writer. */
    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (*fd < 0 || fstat(*fd, &st) != 0)
        collet_fail(err, COLLET_IO, "%s: cannot be opened: %s", path, strerror(errno));
    else if (S_ISDIR(st.st_mode))
        collet_fail(err, COLLET_IO, "%s: this is a directory, but a regular file is required",
                    path);
    else if (!S_ISREG(st.st_mode))
        collet_fail(
            err, COLLET_IO,
            "%s: this is a device or pipe, but a regular file is required; save its data to a file",
            path);
    else {
        *size = st.st_size;
        return COLLET_OK;
    }
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
    return COLLET_IO;
}

collet_status io_mapping_open(const char *path, io_mapping **out, collet_error *err)
{
    int64_t size;
    int fd;

    *out = NULL;
    collet_status status = io_file_open(path, &fd, &size, err);
    if (status != COLLET_OK)
        return status;
    if (size == 0) {
        close(fd);
        return collet_fail(err, COLLET_FORMAT, "%s: the file is empty", path);
    }
    io_mapping *mapping = calloc(1, sizeof *mapping);
    char *name = strdup(path);
    void *data =
        mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, fd, 0);
    int code = errno;
    close(fd);
    if (!mapping || !name || data == MAP_FAILED) {
        status = data == MAP_FAILED && code != ENOMEM
                     ? collet_fail(err, COLLET_IO, "%s: cannot be mapped: %s", path, strerror(code))
                     : collet_fail(err, COLLET_NO_MEMORY, "%s: no memory to read it", path);
        if (data != MAP_FAILED)
            munmap(data, (size_t)size);
        free(mapping);
        free(name);
        return status;
    }
    mapping->data = data;
    mapping->size = (uint64_t)size;
    mapping->page = (uint64_t)sysconf(_SC_PAGESIZE);
    mapping->path = name;
    mapping->holders = 1;
    *out = mapping;
    return COLLET_OK;
}

io_mapping *io_mapping_hold(io_mapping *mapping)
{
    atomic_fetch_add(&mapping->holders, 1);
    return mapping;
}

void io_mapping_close(io_mapping *mapping)
{
    if (!mapping || atomic_fetch_sub(&mapping->holders, 1) > 1)
        return;
    munmap(mapping->data, (size_t)mapping->size);
    free(mapping->path);
    free(mapping);
}

uint8_t *io_mapping_data(const io_mapping *mapping)
{
    return mapping->data;
}

uint64_t io_mapping_size(const io_mapping *mapping)
{
    return mapping->size;
}

const char *io_mapping_path(const io_mapping *mapping)
{
    return mapping->path;
}

void io_mapping_passed(io_mapping *mapping, uint64_t offset, uint64_t length)
{
    uint64_t page = mapping->page;
    uint64_t first = (offset + page - 1) / page * page, last = (offset + length) / page * page;

    if (first < last)
        madvise(mapping->data + first, (size_t)(last - first), MADV_DONTNEED);
}
