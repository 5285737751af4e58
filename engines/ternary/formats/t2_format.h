/* SPDX-License-Identifier: Apache-2.0 */
/* t2_format.h - the header of a .t2 file, for reading and writing. */
#pragma once

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

_Static_assert(sizeof(t2_head) == 64, "the header has no padding");

/* Returns the checksum of header and table, with the checksum field taken as 0. */
uint64_t t2_head_sum(const t2_head *head, const ternary_t2_layer *table);
