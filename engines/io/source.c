/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_io_source.c, tests/engines/test_io_system_calls.c */
#include "source.h"

#include "mapping.h"
#include "io/packed/packed.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Page-aligned reads are the fastest. */
#define PAGE ((int64_t)4096)

/* The window is not larger than the file, but at least a page. */
static size_t window_size(int64_t size)
{
    if (size >= (int64_t)IO_SOURCE_WINDOW)
        return IO_SOURCE_WINDOW;
    return (size_t)((size | 1) + PAGE - 1) & ~(size_t)(PAGE - 1);
}

/* Sets the path of a source whose file is open, and allocates its window. */
static collet_status prepare(io_source *source, const char *path, collet_error *err)
{
    source->path = strdup(path);
    source->window = aligned_alloc((size_t)PAGE, window_size(source->size));
    if (!source->path || !source->window) {
        io_source_close(source);
        return collet_fail(err, COLLET_NO_MEMORY, "%s: no memory to read it", path);
    }
    (void)posix_fadvise(source->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    return COLLET_OK;
}

/* If the open file of the source is packed, replaces the file by its unpacked data. */
static collet_status unpack(io_source *source, const char *path, collet_error *err)
{
    int file = source->fd;
    collet_status status = io_packed_open(file, path, &source->poll, &source->packed, err);

    if (status == COLLET_OK && !source->packed)
        return COLLET_OK;
    source->fd = -1;
    if (source->packed) {
        source->fd = fcntl(io_packed_file(source->packed, &source->size), F_DUPFD_CLOEXEC, 0);
        if (source->fd < 0)
            status = collet_fail(err, COLLET_IO, "%s: cannot be opened: %s", path, strerror(errno));
    }
    close(file);
    return status;
}

collet_status io_source_open(io_source *source, const char *path, const io_poll *poll,
                             collet_error *err)
{
    *source = (io_source){.fd = -1};
    if (poll)
        source->poll = *poll;
    collet_status status = io_file_open(path, &source->fd, &source->size, err);
    if (status == COLLET_OK)
        status = unpack(source, path, err);
    if (status == COLLET_OK)
        return prepare(source, path, err);
    io_source_close(source);
    return status;
}

collet_status io_source_share(const io_source *from, io_source *source, collet_error *err)
{
    /* Does not use the path, because the path may name another file by now. */
    int fd = fcntl(from->fd, F_DUPFD_CLOEXEC, 0);

    *source = (io_source){.fd = fd, .size = from->size, .poll = from->poll};
    if (fd < 0)
        return collet_fail(err, COLLET_IO, "%s: cannot be opened again: %s", from->path,
                           strerror(errno));
    return prepare(source, from->path, err);
}

void io_source_close(io_source *source)
{
    if (source->fd >= 0)
        close(source->fd);
    free(source->path);
    free(source->window);
    io_packed_release(source->packed);
    *source = (io_source){.fd = -1};
}

static collet_status read_fully(io_source *source, int64_t offset, size_t length, void *to,
                                collet_error *err)
{
    uint8_t *bytes = to;
    size_t done = 0;

    while (done < length) {
        ssize_t n = pread(source->fd, bytes + done, length - done, (off_t)(offset + (int64_t)done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return collet_fail(err, COLLET_IO, "%s: reading at byte %lld failed: %s", source->path,
                               (long long)(offset + (int64_t)done), strerror(errno));
        if (n == 0)
            return collet_fail(
                err, COLLET_IO,
                "%s: the file became shorter while it was read: %lld bytes when opened, now "
                "it ends at byte %lld",
                source->path, (long long)source->size, (long long)(offset + (int64_t)done));
        done += (size_t)n;
    }
    return COLLET_OK;
}

/* Moves the window so that it has `offset` and at least min(minimum, rest of the file) bytes from
 * there. */
static collet_status refill(io_source *source, int64_t offset, size_t minimum, collet_error *err)
{
    int64_t from = offset & ~(PAGE - 1);
    int64_t rest = source->size - from;
    int64_t window_end = source->window_offset + (int64_t)source->window_length;
    int sequential = offset >= source->window_offset && offset <= window_end;
    size_t length = IO_SOURCE_WINDOW;

    /* Reads less after a jump: when frames are skipped, only the head of each frame is needed. */
    if (!sequential)
        length = minimum + (size_t)PAGE + (size_t)(offset - from);
    if ((int64_t)length > rest)
        length = (size_t)rest;
    if (io_poll_stops(&source->poll))
        return collet_fail(err, COLLET_CANCELLED, "%s: cancelled", source->path);
    source->window_length = 0;
    collet_status status = read_fully(source, from, length, source->window, err);
    if (status != COLLET_OK)
        return status;
    source->window_offset = from;
    source->window_length = length;
    return COLLET_OK;
}

static size_t in_window(const io_source *source, int64_t offset)
{
    int64_t end = source->window_offset + (int64_t)source->window_length;

    if (offset < source->window_offset || offset >= end)
        return 0;
    return (size_t)(end - offset);
}

collet_status io_source_view(io_source *source, int64_t offset, size_t length,
                             const uint8_t **bytes, collet_error *err)
{
    if (in_window(source, offset) < length) {
        collet_status status = refill(source, offset, length, err);
        if (status != COLLET_OK)
            return status;
    }
    *bytes = source->window + (offset - source->window_offset);
    return COLLET_OK;
}

collet_status io_source_begin(io_source *source, const uint8_t **bytes, size_t *n,
                              collet_error *err)
{
    if (source->size == 0)
        return collet_fail(err, COLLET_FORMAT, "%s: the file is empty", source->path);
    *n = source->size < PAGE ? (size_t)source->size : (size_t)PAGE;
    return io_source_view(source, 0, *n, bytes, err);
}

collet_status io_source_stream(io_source *source, int64_t offset, int64_t length, size_t unit,
                               const uint8_t **bytes, size_t *n, collet_error *err)
{
    size_t have = in_window(source, offset);

    if (have < unit) {
        size_t minimum = IO_SOURCE_VIEW;
        if ((int64_t)minimum > length)
            minimum = (size_t)length;
        collet_status status = refill(source, offset, minimum, err);
        if (status != COLLET_OK)
            return status;
        have = in_window(source, offset);
    }
    if ((int64_t)have > length)
        have = (size_t)length;
    *n = have - have % unit;
    *bytes = source->window + (offset - source->window_offset);
    return COLLET_OK;
}

collet_status io_source_copy(io_source *source, int64_t offset, size_t length, void *destination,
                             collet_error *err)
{
    size_t have = in_window(source, offset);

    if (have > length)
        have = length;
    if (have > 0)
        memcpy(destination, source->window + (offset - source->window_offset), have);
    offset += (int64_t)have;
    destination = (uint8_t *)destination + have;
    length -= have;
    if (length > IO_SOURCE_VIEW)
        return read_fully(source, offset, length, destination, err);
    if (length == 0)
        return COLLET_OK;
    const uint8_t *bytes;
    collet_status status = io_source_view(source, offset, length, &bytes, err);
    if (status == COLLET_OK)
        memcpy(destination, bytes, length);
    return status;
}
