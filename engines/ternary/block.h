/* SPDX-License-Identifier: Apache-2.0 */
/* block.h - a stretch of rows on their way from a source to packed bytes. */
#ifndef COLLET_ENGINES_TERNARY_BLOCK_H
#define COLLET_ENGINES_TERNARY_BLOCK_H

#include "ternary/source.h"

typedef struct ternary_block {
    int64_t most;   /* rows that there is room for */
    uint8_t *bytes; /* packed rows */
    float *scale;   /* of each row */
    /* What the rows were before. */
    void *raw;
    int8_t *codes;
    float *values, *block_scale;
} ternary_block;

/* Room for as many rows of the source at a time as are good, packed in `format`. */
collet_status ternary_block_create(const ternary_source *source, uint32_t format,
                                   ternary_block *block, collet_error *err);
/* Of a zeroed one too. */
void ternary_block_free(ternary_block *block);

/* How a source becomes packed rows. */
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
 * INVALID: a number that is not finite, no code, a code 11, blocks of a row whose scales differ, or
 * a scale that the f16 of the blocks of `format` would make infinite or 0; the text says where.
 */
collet_status ternary_block_pack(ternary_call *call, const ternary_source *source,
                                 const ternary_recipe *recipe, int64_t first, int64_t count,
                                 ternary_block *block);

#endif
