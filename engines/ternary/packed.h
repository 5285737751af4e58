/* SPDX-License-Identifier: Apache-2.0 */
/* packed.h - packed rows of any file as codes and values. */
#ifndef COLLET_ENGINES_TERNARY_PACKED_H
#define COLLET_ENGINES_TERNARY_PACKED_H

#include "ternary/arrays.h"
#include "ternary/formats/gguf.h"
#include "ternary/formats/t2_file.h"

#define TERNARY_BLOCK_WEIGHTS 256 /* weights with a scale in tq2_0 and tq1_0 */

typedef struct ternary_packed {
    const char *what; /* begins messages; lent */
    uint32_t format;
    int64_t rows, columns, row_bytes;
    uint8_t *bytes;     /* rows x row_bytes */
    int has_blocks;     /* the scales are those of the blocks */
    const float *scale; /* of each row, NULL: those of the blocks, or 1 */
    collet_mapping *mapping;
} ternary_packed;

/* The scales are those of the layer; scales in blocks of tq2_0 and tq1_0 are ignored. */
ternary_packed ternary_packed_of_layer(const collet_t2_file *file, uint32_t index);
/* Of type TQ2_0 or TQ1_0, where the scales are those of the blocks. */
ternary_packed ternary_packed_of_tensor(const collet_gguf *gguf, const collet_gguf_tensor *tensor,
                                        const char *what);

/* Rows of about a million weights, at least one. */
int64_t ternary_rows_at_a_time(int64_t rows, int64_t columns);

/*
 * The codes (count x columns) of rows first .. first + count; where blocks have scales and
 * `block_scale` is not NULL, those (count x columns / TERNARY_BLOCK_WEIGHTS). *invalid: how many
 * weights have an invalid code, which became 0. The rows' pages are released.
 */
collet_status ternary_packed_codes(ternary_call *call, const ternary_packed *packed, int64_t first,
                                   int64_t count, int8_t *codes, float *block_scale,
                                   int32_t *invalid);

/* INVALID with the first row that has an invalid code; there is one among the `count`. */
collet_status ternary_packed_complain(ternary_call *call, const ternary_packed *packed,
                                      int64_t first, int64_t count, int8_t *codes);

/* values (count x columns) = codes times the scale of the row, of the block, or 1. */
void ternary_packed_values(const ternary_packed *packed, int64_t first, int64_t count,
                           const int8_t *codes, const float *block_scale, float *values);

/* "t2" of COLLET_TERNARY_T2. */
const char *ternary_format_name(uint32_t format);

#endif
