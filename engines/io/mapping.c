/* SPDX-License-Identifier: Apache-2.0 */
#include "mapping.h"

#include "source.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct collet_mapping {
    uint8_t *data;
    uint64_t size;
    uint64_t page;
    char *path;
    atomic_int holders;
};

collet_status collet_mapping_open(const char *path, collet_mapping **out, collet_error *err)
{
    int64_t size;
    int fd;

    *out = NULL;
    collet_status status = collet_file_open(path, &fd, &size, err);
    if (status != COLLET_OK)
        return status;
    if (size == 0) {
        close(fd);
        return collet_fail(err, COLLET_FORMAT, "%s: is empty", path);
    }
    collet_mapping *mapping = calloc(1, sizeof *mapping);
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

collet_mapping *collet_mapping_hold(collet_mapping *mapping)
{
    atomic_fetch_add(&mapping->holders, 1);
    return mapping;
}

void collet_mapping_close(collet_mapping *mapping)
{
    if (!mapping || atomic_fetch_sub(&mapping->holders, 1) > 1)
        return;
    munmap(mapping->data, (size_t)mapping->size);
    free(mapping->path);
    free(mapping);
}

uint8_t *collet_mapping_data(const collet_mapping *mapping)
{
    return mapping->data;
}

uint64_t collet_mapping_size(const collet_mapping *mapping)
{
    return mapping->size;
}

const char *collet_mapping_path(const collet_mapping *mapping)
{
    return mapping->path;
}

void collet_mapping_passed(collet_mapping *mapping, uint64_t offset, uint64_t length)
{
    uint64_t page = mapping->page;
    uint64_t first = (offset + page - 1) / page * page, last = (offset + length) / page * page;

    if (first < last)
        madvise(mapping->data + first, (size_t)(last - first), MADV_DONTNEED);
}
