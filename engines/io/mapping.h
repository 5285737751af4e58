/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mapping.h - a regular file as bytes in memory, read as they are touched.
 *
 * Any number of holders share one mapping: it is unmapped with the last of them, on any thread. The
 * pages are the process's own, so that nothing written to them reaches the file. As of every
 * mapping, whoever makes the file shorter meanwhile ends the process with SIGBUS.
 */
#ifndef COLLET_IO_MAPPING_H
#define COLLET_IO_MAPPING_H

#include <collet/collet.h>

typedef struct collet_mapping collet_mapping;

/* COLLET_IO where `path` cannot be opened or is no regular file; COLLET_FORMAT where it is empty.
 */
collet_status collet_mapping_open(const char *path, collet_mapping **out, collet_error *err);

/* One more holder; returns the mapping. */
collet_mapping *collet_mapping_hold(collet_mapping *mapping);
/* One less. NULL is allowed. */
void collet_mapping_close(collet_mapping *mapping);

uint8_t *collet_mapping_data(const collet_mapping *mapping);
uint64_t collet_mapping_size(const collet_mapping *mapping);
const char *collet_mapping_path(const collet_mapping *mapping); /* lent */

/* Bytes offset .. offset + length, which lie within the file, were read and are not wanted soon:
 * they stop counting as this process's memory. */
void collet_mapping_passed(collet_mapping *mapping, uint64_t offset, uint64_t length);

#endif
