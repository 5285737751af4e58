/* SPDX-License-Identifier: Apache-2.0 */
/* block.h - converts some rows of a source at a time to packed bytes. */
#ifndef COLLET_ENGINES_TERNARY_BLOCK_H
#define COLLET_ENGINES_TERNARY_BLOCK_H

#include "ternary/source.h"

typedef struct ternary_block {
    int64_t most;   /* capacity in rows */
    uint8_t *bytes; /* packed rows */
    float *scale;   /* of each row */
    /* Intermediate results. */
    void *raw;
    int8_t *codes;
    float *values, *block_scale;
} ternary_block;

/* Buffers for ternary_rows_at_a_time of the source, packed in `format`. */
collet_status ternary_block_create(const ternary_source *source, uint32_t format,
                                   ternary_block *block, collet_error *err);
/* Of a zeroed one too. */
void ternary_block_free(ternary_block *block);

/* How to pack a source. */
typedef struct ternary_recipe {
    int quantize; /* 0: as the source suggests: THRESHOLD for numbers, the rest as stored */
    collet_ternary_quantize_params params; /* with `quantize`, or of numbers */
    uint32_t format;
    const float *scale; /* of each row of the source, instead of what quantizing gives; or NULL */
} ternary_recipe;

/* `quantize` as in collet_ternary_file_load. */
ternary_recipe ternary_recipe_of(const collet_ternary_quantize_params *quantize, uint32_t format);

/* Whether rows get scales other than 1. */
int ternary_recipe_scales(const ternary_recipe *recipe, const ternary_source *source);

/*
 * Packs rows first .. first + count <= most into block->bytes, their scales into block->scale.
 * INVALID: a number that is not finite, an invalid code, blocks of a row with different scales, or
 * a scale that becomes infinite or 0 in the f16 of blocks of `format`; the text says where.
 */
collet_status ternary_block_pack(ternary_call *call, const ternary_source *source,
                                 const ternary_recipe *recipe, int64_t first, int64_t count,
                                 ternary_block *block);

#endif
