/* SPDX-License-Identifier: Apache-2.0 */
/* block.h - packs the rows of a source, a few at a time. */
#ifndef ENGINES_TERNARY_BLOCK_H
#define ENGINES_TERNARY_BLOCK_H

#include "ternary/output.h"
#include "ternary/source.h"

/* How to pack a source. */
typedef struct ternary_recipe {
    int quantize;                          /* 0: keep codes as stored */
    collet_ternary_quantize_params params; /* used with `quantize`, or for numbers */
    uint32_t format;
    float *exact; /* the scales of a source that is already ternary, one for each row; NULL: it is
    not, or is kept as stored */
    const float *scale; /* one for each row, used instead of the computed scales; NULL: none */
} ternary_recipe;

/* `quantize` as in collet_ternary_file_load. Reads numbers until a row is not ternary. Free the
 * recipe also after a failure. */
collet_status ternary_recipe_of(ternary_call *call, ternary_recipe *recipe,
                                const ternary_source *source,
                                const collet_ternary_quantize_params *quantize, uint32_t format);
/* A zeroed struct is allowed. */
void ternary_recipe_free(ternary_recipe *recipe);

/* 1 if rows can get scales other than 1. */
int ternary_recipe_scales(const ternary_recipe *recipe, const ternary_source *source);

/*
 * Packs all rows to `bytes`; if that is NULL, appends them to `output`. Stores the scale of each
 * row in `scale` unless that is NULL. INVALID for a number that is not finite, an invalid code,
 * blocks of a row with different scales, or a scale that becomes infinite or 0 as f32 or, when the
 * recipe's format stores it so, as f16; the text says where. Warns of suspicious results.
 */
collet_status ternary_pack_rows(ternary_call *call, const ternary_source *source,
                                const ternary_recipe *recipe, uint8_t *bytes,
                                collet_ternary_output *output, float *scale);

#endif
