/* SPDX-License-Identifier: Apache-2.0 */
/* t2_format.h - the bytes of head and table, shared by the reader and the writer of t2_file.h. */
#ifndef COLLET_IO_T2_FORMAT_H
#define COLLET_IO_T2_FORMAT_H

#include "t2_file.h"

#define T2_MAGIC "\x89\x43\x4c\x54\x32\x0d\x0a\x1a"
#define T2_ORDER 0x01020304u
#define T2_VERSION 1u
#define T2_ALIGNMENT 64u

typedef struct t2_head {
    char magic[8];
    uint32_t version, order;
    uint64_t size;
    uint32_t layers, zero;
    uint64_t checksum;
    uint8_t zeros[24];
} t2_head;

typedef struct t2_entry {
    uint32_t format, flags;
    uint64_t rows, columns;
    uint32_t activations;
    float threshold;
    uint64_t weights_offset, weights_bytes, scale_offset, bias_offset, checksum;
    char name[COLLET_T2_NAME];
} t2_entry;

_Static_assert(sizeof(t2_head) == 64 && sizeof(t2_entry) == 128, "the format has no other padding");

/* The entry of a layer that was laid out. */
void t2_entry_of(const collet_t2_layer *layer, t2_entry *entry);

/* The checksum of a head, its own taken as 0, and the table. */
uint64_t t2_head_sum(const t2_head *head, const void *table, uint64_t table_bytes);

#endif
