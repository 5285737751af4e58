/* SPDX-License-Identifier: Apache-2.0 */
/* block.h - packs the rows of a source, some at a time. */
#ifndef ENGINES_TERNARY_BLOCK_H
#define ENGINES_TERNARY_BLOCK_H

#include "ternary/output.h"
#include "ternary/source.h"

/* How to pack a source. */
typedef struct ternary_recipe {
    int quantize; /* 0: as the source suggests: THRESHOLD for numbers, the rest as stored */
    collet_ternary_quantize_params params; /* with `quantize`, or of numbers */
    uint32_t format;
    const float *scale; /* of each row of the source, instead of what quantizing gives; or NULL */
} ternary_recipe;

/* `quantize` as in collet_ternary_file_load. */
collet_status ternary_recipe_of(ternary_recipe *recipe,
                                const collet_ternary_quantize_params *quantize, uint32_t format,
                                const char *what, collet_error *err);

/* Whether rows get scales other than 1. */
int ternary_recipe_scales(const ternary_recipe *recipe, const ternary_source *source);

/*
 * Packs all rows to `bytes` or, where that is NULL, appends them to `output`; stores the scale of
 * each row in `scale` unless that is NULL. INVALID: a number that is not finite, an invalid code,
 * blocks of a row with different scales, or a scale that becomes infinite or 0 in the f16 of blocks
 * of the recipe's format; the text names the place.
 */
collet_status ternary_pack_rows(ternary_call *call, const ternary_source *source,
                                const ternary_recipe *recipe, uint8_t *bytes,
                                collet_ternary_output *output, float *scale);

#endif
