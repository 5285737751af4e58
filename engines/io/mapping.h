/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mapping.h - a regular file mapped into memory, read on demand.
 *
 * Reference-counted; thread-safe. The pages are private: writes do not reach the file. As with
 * every mapping, truncating the file meanwhile raises SIGBUS.
 */
#ifndef COLLET_IO_MAPPING_H
#define COLLET_IO_MAPPING_H

#include <collet/collet.h>

typedef struct collet_mapping collet_mapping;

/* COLLET_IO where `path` cannot be opened or is no regular file; COLLET_FORMAT where it is empty.
 */
collet_status collet_mapping_open(const char *path, collet_mapping **out, collet_error *err);

/* Adds a reference; returns the mapping. */
collet_mapping *collet_mapping_hold(collet_mapping *mapping);
/* Drops a reference; the last one unmaps. NULL is allowed. */
void collet_mapping_close(collet_mapping *mapping);

uint8_t *collet_mapping_data(const collet_mapping *mapping);
uint64_t collet_mapping_size(const collet_mapping *mapping);
const char *collet_mapping_path(const collet_mapping *mapping); /* valid until closed */

/* Bytes offset .. offset + length, within the file, will not be read again soon: drops them from
 * resident memory. */
void collet_mapping_passed(collet_mapping *mapping, uint64_t offset, uint64_t length);

#endif
