/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mapping.h - a regular file mapped into memory, read on demand.
 *
 * Reference-counted; thread-safe. The pages are private: writes do not reach the file. If another program truncates
 * the file, reading raises SIGBUS, as it does for every mapping.
 */
#pragma once

#include <collet/collet.h>

/* Opens a regular file for reading: sets *fd and *size. COLLET_IO if `path` cannot be opened, or is
 * a directory, a device or a pipe. On an error no file is open. */
collet_status io_file_open(const char *path, int *fd, int64_t *size, collet_error *err);

typedef struct io_mapping io_mapping;

/* COLLET_IO if `path` cannot be opened or is not a regular file; COLLET_FORMAT if it is empty. */
collet_status io_mapping_open(const char *path, io_mapping **out, collet_error *err);

/* Adds a reference; returns the mapping. */
io_mapping *io_mapping_hold(io_mapping *mapping);
/* Drops a reference. Dropping the last reference unmaps the file. NULL is allowed. */
void io_mapping_close(io_mapping *mapping);

uint8_t *io_mapping_data(const io_mapping *mapping);
uint64_t io_mapping_size(const io_mapping *mapping);
const char *io_mapping_path(const io_mapping *mapping); /* valid until closed */

/* Drops bytes offset .. offset + length, within the file, from resident memory, because they will not be read again
 * soon. */
void io_mapping_passed(io_mapping *mapping, uint64_t offset, uint64_t length);
