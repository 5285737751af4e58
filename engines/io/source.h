/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source.h - reads a regular file, or a packed file as packed.h unpacks it, through a window of a few hundred kilobytes.
 *
 * Returned bytes are in the window, so that the caller decodes them while they are in the L2 cache.
 * Memory does not depend on the file's size. Size and offsets have 64 bits. The size is fixed when
 * the file is opened. One thread at a time.
 */
#pragma once

#include "io/packed/poll.h"

#include <collet/collet.h>

#define IO_SOURCE_WINDOW ((size_t)256 * 1024)
#define IO_SOURCE_VIEW ((size_t)64 * 1024) /* maximum number of bytes of a view */

struct io_packed;

typedef struct io_source {
    io_poll
        poll; /* called before each access to the file; COLLET_CANCELLED when it stops the work */
    char *path;
    int64_t size; /* bytes, of a packed file after unpacking */
    int fd;
    struct io_packed *packed; /* NULL: the file is not packed */
    uint8_t *window;
    int64_t window_offset; /* byte of the file at which the window begins */
    size_t window_length;  /* bytes in the window */
} io_source;

/* `poll` may be NULL. Has the errors of io_file_open and io_packed_open, and COLLET_NO_MEMORY. */
collet_status io_source_open(io_source *source, const char *path, const io_poll *poll,
                             collet_error *err);
/* Opens the same file again for another thread: `source` gets its own window, and the size and the poll
 * function of `from`. COLLET_IO, COLLET_NO_MEMORY. */
collet_status io_source_share(const io_source *from, io_source *source, collet_error *err);
void io_source_close(io_source *source);

/* Returns bytes offset .. offset + length in *bytes, valid until the next call. The bytes must be within the file,
 * and length <= IO_SOURCE_VIEW. COLLET_IO when reading fails or the file became shorter. */
collet_status io_source_view(io_source *source, int64_t offset, size_t length,
                             const uint8_t **bytes, collet_error *err);

/* Returns the first *n bytes, up to 4096. COLLET_FORMAT for an empty file. */
collet_status io_source_begin(io_source *source, const uint8_t **bytes, size_t *n,
                              collet_error *err);

/* Returns as many of the `length` bytes at `offset` as the window has: *n bytes, a multiple of
 * `unit` and at least one `unit`. `length` must be a multiple of `unit`, not 0, and within the
 * file. */
collet_status io_source_stream(io_source *source, int64_t offset, int64_t length, size_t unit,
                               const uint8_t **bytes, size_t *n, collet_error *err);

/* Copies bytes offset .. offset + length, which are within the file, to `destination`. */
collet_status io_source_copy(io_source *source, int64_t offset, size_t length, void *destination,
                             collet_error *err);
