/* SPDX-License-Identifier: Apache-2.0 */
#include "ternary/block.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

collet_status ternary_block_create(const ternary_source *source, uint32_t format,
                                   ternary_block *block, collet_error *err)
{
    size_t row = (size_t)source->columns, rows, weights;
    int blocks = source->content == COLLET_TERNARY_PACKED;

    memset(block, 0, sizeof *block);
    block->most = ternary_rows_at_a_time(source->rows, source->columns);
    rows = (size_t)block->most;
    weights = rows * row;
    block->bytes = malloc(rows * (size_t)collet_ternary_bytes(format, source->columns));
    block->scale = malloc(rows * sizeof(float));
    block->codes = malloc(weights);
    if (blocks) {
        block->values = malloc(weights * sizeof(float));
        block->block_scale = malloc(weights / TERNARY_BLOCK_WEIGHTS * sizeof(float));
    } else {
        block->raw = malloc(weights * collet_dtype_size(source->dtype));
    }
    if (block->bytes && block->scale && block->codes &&
        (blocks ? block->values && block->block_scale : block->raw != NULL))
        return COLLET_OK;
    ternary_block_free(block);
    return collet_fail(err, COLLET_NO_MEMORY, "%s: no memory for %zu rows of %zu weights",
                       source->text, rows, row);
}

void ternary_block_free(ternary_block *block)
{
    free(block->bytes);
    free(block->scale);
    free(block->raw);
    free(block->codes);
    free(block->values);
    free(block->block_scale);
    memset(block, 0, sizeof *block);
}

#define THRESHOLD 0.3f /* the default for numbers */

ternary_recipe ternary_recipe_of(const collet_ternary_quantize_params *quantize, uint32_t format)
{
    ternary_recipe recipe = {.quantize = quantize != NULL, .format = format};
    size_t size = sizeof recipe.params;

    if (quantize) /* an older caller's block may be shorter */
        memcpy(&recipe.params, quantize,
               quantize->struct_size < size ? quantize->struct_size : size);
    else
        recipe.params.threshold = THRESHOLD;
    recipe.params.struct_size = (uint32_t)size;
    return recipe;
}

int ternary_recipe_scales(const ternary_recipe *recipe, const ternary_source *source)
{
    return recipe->scale || (recipe->quantize && recipe->params.mode == COLLET_TERNARY_ABSMEAN) ||
           (source->content == COLLET_TERNARY_PACKED && !recipe->quantize);
}

/* ---- Codes --------------------------------------------------------------------------------- */

/* Codes and scales of count x columns numbers. *bad: how many are not finite. */
static collet_status quantize(ternary_call *call, const ternary_recipe *recipe, collet_dtype dtype,
                              void *numbers, int64_t count, int64_t columns, ternary_block *block,
                              int32_t *bad)
{
    enum { NUMBERS, CODES, SCALE, INFO, ARRAYS };
    collet_array *a[ARRAYS] = {NULL};

    collet_status status = ternary_array_over(call, &a[NUMBERS], dtype, count, columns, numbers);
    if (status == COLLET_OK)
        status = ternary_array_new(call, &a[CODES], COLLET_I8, count, columns);
    if (status == COLLET_OK)
        status = ternary_array_new(call, &a[SCALE], COLLET_F32, count, -1);
    if (status == COLLET_OK)
        status = ternary_array_new(call, &a[INFO], COLLET_I32, -1, -1);
    if (status == COLLET_OK)
        status = collet_ternary_quantize(call->context, a[CODES], a[SCALE], a[INFO], a[NUMBERS],
                                         &recipe->params);
    if (status == COLLET_OK)
        status = ternary_array_take(call, a[CODES], block->codes);
    if (status == COLLET_OK)
        status = ternary_array_take(call, a[SCALE], block->scale);
    if (status == COLLET_OK)
        status = ternary_array_take(call, a[INFO], bad);
    ternary_arrays_free(a, ARRAYS);
    return status;
}

static collet_status codes_of_floats(ternary_call *call, const ternary_source *source,
                                     const ternary_recipe *recipe, int64_t first, int64_t count,
                                     ternary_block *block)
{
    int32_t bad = 0;

    ternary_source_rows(source, first, count, block->raw);
    collet_status status =
        quantize(call, recipe, source->dtype, block->raw, count, source->columns, block, &bad);
    if (status != COLLET_OK)
        return ternary_call_prefix(call, status, source->text);
    return bad > 0 ? ternary_source_complain(source, first, count, block->raw, &call->error)
                   : (collet_status)COLLET_OK;
}

/* The scale of a row: that of its blocks, which must agree unless all their weights are 0. */
static collet_status row_scale(const ternary_source *source, int64_t row, const int8_t *codes,
                               const float *scales, float *out, collet_error *err)
{
    int64_t found = -1;

    *out = 1;
    for (int64_t b = 0; b < source->columns / TERNARY_BLOCK_WEIGHTS; b++) {
        if (memchr(codes + b * TERNARY_BLOCK_WEIGHTS, 1, TERNARY_BLOCK_WEIGHTS) == NULL &&
            memchr(codes + b * TERNARY_BLOCK_WEIGHTS, -1, TERNARY_BLOCK_WEIGHTS) == NULL)
            continue;
        if (!isfinite(scales[b]))
            return collet_fail(err, COLLET_INVALID, "%s: block %lld of row %lld has the scale %g",
                               source->text, (long long)b, (long long)row, (double)scales[b]);
        if (found >= 0 && scales[b] != *out)
            return collet_fail(err, COLLET_INVALID,
                               "%s: blocks %lld and %lld of row %lld have the scales %g and %g; a "
                               "row has one: choose new codes with --threshold or --absmean",
                               source->text, (long long)found, (long long)b, (long long)row,
                               (double)*out, (double)scales[b]);
        *out = scales[b];
        found = b;
    }
    return COLLET_OK;
}

static collet_status codes_of_blocks(ternary_call *call, const ternary_source *source,
                                     const ternary_recipe *recipe, int64_t first, int64_t count,
                                     ternary_block *block)
{
    int64_t columns = source->columns;
    int32_t bad = 0;

    collet_status status = ternary_packed_codes(call, &source->packed, first, count, block->codes,
                                                block->block_scale, &bad);
    if (status == COLLET_OK && bad > 0)
        status = ternary_packed_complain(call, &source->packed, first, count, block->codes);
    if (status != COLLET_OK)
        return status;
    if (!recipe->quantize) {
        for (int64_t r = 0; r < count && status == COLLET_OK; r++)
            status = row_scale(source, first + r, block->codes + r * columns,
                               block->block_scale + r * columns / TERNARY_BLOCK_WEIGHTS,
                               &block->scale[r], &call->error);
        return status;
    }
    ternary_packed_values(&source->packed, first, count, block->codes, block->block_scale,
                          block->values);
    status = quantize(call, recipe, COLLET_F32, block->values, count, columns, block, &bad);
    if (status != COLLET_OK)
        return ternary_call_prefix(call, status, source->text);
    return bad > 0 ? collet_fail(&call->error, COLLET_INVALID,
                                 "%s: a block in rows %lld to %lld has a scale that is not finite",
                                 source->text, (long long)first, (long long)(first + count - 1))
                   : (collet_status)COLLET_OK;
}

static collet_status read_codes(const ternary_source *source, const ternary_recipe *recipe,
                                int64_t first, int64_t count, ternary_block *block,
                                collet_error *err)
{
    if (recipe->quantize)
        return collet_fail(err, COLLET_INVALID,
                           "%s: holds codes; --threshold and --absmean are for floating weights",
                           source->text);
    ternary_source_rows(source, first, count, block->codes);
    for (int64_t r = 0; r < count; r++)
        block->scale[r] = 1;
    return COLLET_OK;
}

/* ---- Bytes --------------------------------------------------------------------------------- */

/* From the first on f16 rounds to infinity, up to the second to 0. */
#define HALF_INFINITE 65520.0f
#define HALF_NOTHING 0x1p-25f

static int has_blocks(uint32_t format)
{
    return format == COLLET_TERNARY_TQ2_0 || format == COLLET_TERNARY_TQ1_0;
}

/* The scales that go into blocks; readers of these formats know no others. */
static collet_status check_block_scales(const ternary_source *source, const ternary_recipe *recipe,
                                        int64_t first, int64_t count, const float *scale,
                                        collet_error *err)
{
    for (int64_t r = 0; r < count; r++) {
        float magnitude = fabsf(scale[r]);
        if (magnitude >= HALF_INFINITE || (magnitude > 0 && magnitude <= HALF_NOTHING))
            return collet_fail(err, COLLET_INVALID,
                               "%s: the scale of row %lld is %g, which the f16 of %s does not hold",
                               source->text, (long long)(first + r), (double)scale[r],
                               ternary_format_name(recipe->format));
    }
    return COLLET_OK;
}

static collet_status pack_codes(ternary_call *call, const ternary_recipe *recipe, int64_t count,
                                int64_t columns, ternary_block *block, int32_t *bad)
{
    enum { CODES, SCALE, BYTES, INFO, ARRAYS };
    collet_array *a[ARRAYS] = {NULL};
    int scaled = has_blocks(recipe->format);
    int64_t bytes = collet_ternary_bytes(recipe->format, columns);

    collet_status status =
        ternary_array_over(call, &a[CODES], COLLET_I8, count, columns, block->codes);
    if (status == COLLET_OK && scaled)
        status = ternary_array_over(call, &a[SCALE], COLLET_F32, count, -1, block->scale);
    if (status == COLLET_OK)
        status = ternary_array_new(call, &a[BYTES], COLLET_U8, count, bytes);
    if (status == COLLET_OK)
        status = ternary_array_new(call, &a[INFO], COLLET_I32, -1, -1);
    if (status == COLLET_OK)
        status = collet_ternary_pack(call->context, a[BYTES], a[INFO], a[CODES], a[SCALE],
                                     recipe->format);
    if (status == COLLET_OK)
        status = ternary_array_take(call, a[BYTES], block->bytes);
    if (status == COLLET_OK)
        status = ternary_array_take(call, a[INFO], bad);
    ternary_arrays_free(a, ARRAYS);
    return status;
}

collet_status ternary_block_pack(ternary_call *call, const ternary_source *source,
                                 const ternary_recipe *recipe, int64_t first, int64_t count,
                                 ternary_block *block)
{
    collet_status status;
    int32_t bad = 0;

    if (source->content == COLLET_TERNARY_CODES)
        status = read_codes(source, recipe, first, count, block, &call->error);
    else if (source->content == COLLET_TERNARY_PACKED)
        status = codes_of_blocks(call, source, recipe, first, count, block);
    else
        status = codes_of_floats(call, source, recipe, first, count, block);
    if (status != COLLET_OK)
        return status;
    if (recipe->scale)
        memcpy(block->scale, recipe->scale + first, (size_t)count * sizeof(float));
    if (has_blocks(recipe->format))
        status = check_block_scales(source, recipe, first, count, block->scale, &call->error);
    if (status != COLLET_OK)
        return status;
    status = pack_codes(call, recipe, count, source->columns, block, &bad);
    if (status != COLLET_OK)
        return ternary_call_prefix(call, status, source->text);
    return bad > 0 ? ternary_source_complain(source, first, count, block->codes, &call->error)
                   : (collet_status)COLLET_OK;
}
