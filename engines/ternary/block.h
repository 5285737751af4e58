/* SPDX-License-Identifier: Apache-2.0 */
/* block.h - packs the rows of a source, a few at a time. */
#pragma once

#include "ternary/output.h"
#include "ternary/source.h"

/* How to pack a source. */
typedef struct ternary_recipe {
    int quantize;                          /* 0: keep codes as stored */
    collet_ternary_quantize_params params; /* used if `quantize` is set, or if the source has numbers */
    uint32_t format;
    float *exact; /* if the source is already ternary: one scale for each row. NULL: the source is
    not ternary, or its codes are kept as stored */
    const float *scale; /* one for each row, used instead of the computed scales; NULL: none */
} ternary_recipe;

/* Sets the recipe; `quantize` as in collet_ternary_file_load. Finds out whether the source is already ternary. For
 * this, reads its numbers up to the first row that is not ternary. Free the recipe also after a failure. */
collet_status ternary_recipe_of(ternary_call *call, ternary_recipe *recipe,
                                const ternary_source *source,
                                const collet_ternary_quantize_params *quantize, uint32_t format);
/* A zeroed struct is allowed. */
void ternary_recipe_free(ternary_recipe *recipe);

/* 1 if rows can have scales other than 1. */
int ternary_recipe_scales(const ternary_recipe *recipe, const ternary_source *source);

/* Packs all rows to `bytes`. If `bytes` is NULL, appends the rows to `output`. Stores the scale of each
 * row in `scale` unless that is NULL. INVALID if a number is not finite, a code is invalid, the blocks
 * of a row have different scales, or a scale becomes infinite or 0 in f32 (or in f16, if the recipe's
 * format stores f16); the text says where. Warns of suspicious results. */
collet_status ternary_pack_rows(ternary_call *call, const ternary_source *source,
                                const ternary_recipe *recipe, uint8_t *bytes,
                                collet_ternary_output *output, float *scale);
