/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_ternary_files.c */
#include <collet/ops/ternary.h>

#include "ternary/block.h"
#include "ternary/recognise.h"
#include "ternary/result.h"

#include "io/struct.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Buffers for the rows that are packed at a time. */
typedef struct block {
    const ternary_source *source;
    const ternary_recipe *recipe;
    void *numbers; /* the source's numbers, or values computed from its packed blocks */
    int8_t *codes;
    float *scale, *block_scale;
    uint8_t *bytes;
    collet_ternary_counts counts;
} block;

int ternary_recipe_scales(const ternary_recipe *recipe, const ternary_source *source)
{
    if (recipe->scale)
        return 1;
    if (recipe->exact)
        return ternary_scales_differ(recipe->exact, source->rows);
    return recipe->quantize ? recipe->params.mode == COLLET_TERNARY_ABSMEAN
                            : source->has_blocks || source->scale;
}

/* ---- Codes --------------------------------------------------------------------------------- */

/* Returns the dtype of the numbers that are quantized. */
static collet_dtype numbers_dtype(const ternary_source *source)
{
    return source->content == COLLET_TERNARY_PACKED ? (collet_dtype)COLLET_F32 : source->dtype;
}

/* 1 if codes are computed from numbers. */
static int makes_codes(const ternary_recipe *recipe, const ternary_source *source)
{
    return source->content == COLLET_TERNARY_NUMBERS || recipe->quantize;
}

/* Reads rows into b->numbers; values of a PACKED source are computed as f32. */
static collet_status read_numbers(ternary_call *call, block *b, int64_t first, int64_t count)
{
    const ternary_source *source = b->source;

    if (source->content != COLLET_TERNARY_NUMBERS)
        return ternary_source_numbers(call, source, first, count, b->codes, b->block_scale,
                                      b->numbers);
    ternary_source_rows(source, first, count, b->numbers);
    return COLLET_OK;
}

/* Computes codes and scales of the rows in b->numbers. */
static collet_status quantize(ternary_call *call, block *b, int64_t first, int64_t count)
{
    const ternary_recipe *recipe = b->recipe;
    int64_t columns = b->source->columns;
    collet_dtype dtype = numbers_dtype(b->source);
    int32_t bad = 0;
    const ternary_operand operands[] = {{COLLET_I8, 2, {count, columns}, b->codes},
                                        {COLLET_F32, 1, {count}, b->scale},
                                        {COLLET_I32, 0, {0}, &bad},
                                        {dtype, 2, {count, columns}, b->numbers}};

    collet_status status =
        ternary_kernel(call, b->source->text, COLLET_OP_TERNARY_QUANTIZE,
                       recipe->exact ? &ternary_signs : &recipe->params, operands, 3);
    if (status == COLLET_OK && bad > 0)
        return ternary_report_element(b->source, dtype, first, count, b->numbers, &call->error);
    if (recipe->exact)
        memcpy(b->scale, recipe->exact + first, (size_t)count * sizeof *b->scale);
    return status == COLLET_OK ? ternary_check_scales(b->source->text, b->codes, b->scale, first,
                                                      count, columns, &call->error)
                               : status;
}

/* Sets the scale of row r to the scale of its blocks, which must all be equal. Blocks whose weights
 * are all 0 are ignored. */
static collet_status row_scale(const block *b, int64_t first, int64_t r, collet_error *err)
{
    const ternary_source *source = b->source;
    int64_t size = source->block, blocks = source->columns / size, found = -1;
    const float *scales = b->block_scale + r * blocks;
    float *out = &b->scale[r];

    *out = source->scale ? source->scale[first + r] : 1;
    for (int64_t i = 0; source->has_blocks && i < blocks; i++) {
        const int8_t *codes = b->codes + r * source->columns + i * size;
        if (!memchr(codes, 1, (size_t)size) && !memchr(codes, -1, (size_t)size))
            continue;
        if (!isfinite(scales[i]))
            return collet_fail(err, COLLET_INVALID,
                               "%s: block %lld of row %lld has the scale %g; it must be finite",
                               source->text, (long long)i, (long long)(first + r),
                               (double)scales[i]);
        if (found >= 0 && scales[i] != *out)
            return collet_fail(
                err, COLLET_INVALID,
                "%s: blocks %lld and %lld of row %lld have the scales %g and %g, but a "
                "row can have only one: quantize again with --threshold or --absmean",
                source->text, (long long)found, (long long)i, (long long)(first + r), (double)*out,
                (double)scales[i]);
        *out = scales[i];
        found = i;
    }
    return COLLET_OK;
}

static collet_status make_codes(ternary_call *call, block *b, int64_t first, int64_t count)
{
    const ternary_source *source = b->source;
    collet_status status = COLLET_OK;

    if (makes_codes(b->recipe, source)) {
        status = read_numbers(call, b, first, count);
        return status == COLLET_OK ? quantize(call, b, first, count) : status;
    }
    status = ternary_source_codes(call, source, first, count, b->codes, b->block_scale, NULL);
    for (int64_t r = 0; r < count && status == COLLET_OK; r++)
        status = row_scale(b, first, r, &call->error);
    return status;
}

/* ---- Bytes --------------------------------------------------------------------------------- */

/* Conversion to f16 rounds numbers >= HALF_INFINITE to infinity, and numbers <= HALF_NOTHING to 0. */
#define HALF_INFINITE 65520.0f
#define HALF_NOTHING 0x1p-25f

static int has_blocks(uint32_t format)
{
    return format == COLLET_TERNARY_TQ2_0 || format == COLLET_TERNARY_TQ1_0;
}

/* Checks that f16 can represent the scales that are stored in blocks: other programs use these scales. */
static collet_status check_block_scales(const block *b, int64_t first, int64_t count,
                                        collet_error *err)
{
    for (int64_t r = 0; r < count; r++) {
        float magnitude = fabsf(b->scale[r]);
        if (magnitude >= HALF_INFINITE || (magnitude > 0 && magnitude <= HALF_NOTHING))
            return collet_fail(
                err, COLLET_INVALID,
                "%s: the scale of row %lld is %g, outside the range of f16, in which %s stores it",
                b->source->text, (long long)(first + r), (double)b->scale[r],
                ternary_format_name(b->recipe->format));
    }
    return COLLET_OK;
}

static collet_status pack_codes(ternary_call *call, const block *b, int64_t first, int64_t count,
                                uint8_t *bytes)
{
    const uint32_t format = b->recipe->format;
    const collet_ternary_format_params params = {sizeof params, format};
    int64_t columns = b->source->columns;
    int32_t bad = 0;
    const ternary_operand operands[] = {
        {COLLET_U8, 2, {count, collet_ternary_bytes(format, columns)}, bytes},
        {COLLET_I32, 0, {0}, &bad},
        {COLLET_I8, 2, {count, columns}, b->codes},
        {COLLET_F32, 1, {count}, has_blocks(format) ? b->scale : NULL}};

    collet_status status =
        ternary_kernel(call, b->source->text, COLLET_OP_TERNARY_PACK, &params, operands, 2);
    return status == COLLET_OK && bad > 0
               ? ternary_report_element(b->source, COLLET_I8, first, count, b->codes, &call->error)
               : status;
}

static collet_status pack_some(ternary_call *call, block *b, int64_t first, int64_t count,
                               uint8_t *bytes)
{
    collet_status status = make_codes(call, b, first, count);
    if (status == COLLET_OK && b->recipe->scale)
        memcpy(b->scale, b->recipe->scale + first, (size_t)count * sizeof(float));
    if (status == COLLET_OK && has_blocks(b->recipe->format))
        status = check_block_scales(b, first, count, &call->error);
    if (status == COLLET_OK)
        ternary_count_codes(b->codes, count * b->source->columns, &b->counts);
    return status == COLLET_OK ? pack_codes(call, b, first, count, bytes) : status;
}

/* ---- Rows ---------------------------------------------------------------------------------- */

static collet_status block_create(block *b, size_t row_bytes, collet_error *err)
{
    int64_t some = ternary_source_some(b->source, 0);
    size_t rows = (size_t)some, weights = rows * (size_t)b->source->columns;

    b->numbers = malloc(weights * collet_dtype_size(numbers_dtype(b->source)));
    b->codes = malloc(weights);
    b->scale = malloc(rows * sizeof(float));
    b->block_scale = malloc(ternary_source_scales(b->source, some) * sizeof(float));
    b->bytes = malloc(rows * row_bytes);
    if (b->numbers && b->codes && b->scale && b->block_scale && b->bytes)
        return COLLET_OK;
    return collet_fail(err, COLLET_NO_MEMORY, "%s: no memory for %zu rows of %lld weights",
                       b->source->text, rows, (long long)b->source->columns);
}

static void block_free(block *b)
{
    free(b->numbers);
    free(b->codes);
    free(b->scale);
    free(b->block_scale);
    free(b->bytes);
}

collet_status ternary_pack_rows(ternary_call *call, const ternary_source *source,
                                const ternary_recipe *recipe, uint8_t *bytes,
                                collet_ternary_output *output, float *scale)
{
    size_t row_bytes = (size_t)collet_ternary_bytes(recipe->format, source->columns);
    block b = {.source = source, .recipe = recipe};

    collet_status status = block_create(&b, row_bytes, &call->error);
    for (int64_t first = 0, count; first < source->rows && status == COLLET_OK; first += count) {
        count = ternary_source_some(source, first);
        uint8_t *to = bytes ? bytes + (size_t)first * row_bytes : b.bytes;
        status = pack_some(call, &b, first, count, to);
        if (status == COLLET_OK && !bytes)
            status = ternary_output_add(output, to, (uint64_t)count * row_bytes, &call->error);
        if (status == COLLET_OK && scale)
            memcpy(scale + first, b.scale, (size_t)count * sizeof *scale);
        if (status == COLLET_OK)
            status = ternary_call_advance(call, count * source->columns);
    }
    if (status == COLLET_OK && source->file->kind != COLLET_TERNARY_FILE_T2)
        ternary_warn_of_counts(call, source->text, &b.counts,
                               makes_codes(recipe, source) && !recipe->exact ? &recipe->params
                                                                             : NULL);
    block_free(&b);
    return status;
}

/* ---- Recipes ------------------------------------------------------------------------------- */

/* Sets recipe->exact if all rows are ternary. */
static collet_status recognise(ternary_call *call, ternary_recipe *recipe,
                               const ternary_source *source)
{
    block b = {.source = source, .recipe = recipe};
    float *found = malloc((size_t)source->rows * sizeof *found);
    int ternary = 1;

    collet_status status = block_create(&b, 1, &call->error);
    if (status == COLLET_OK && !found)
        status = collet_fail(&call->error, COLLET_NO_MEMORY, "%s: no memory for %lld scales",
                             source->text, (long long)source->rows);
    for (int64_t first = 0, count; ternary && first < source->rows && status == COLLET_OK;
         first += count) {
        count = ternary_source_some(source, first);
        status = ternary_call_stopped(call) ? (collet_status)COLLET_CANCELLED
                                            : read_numbers(call, &b, first, count);
        if (status == COLLET_OK)
            ternary = ternary_recognise_rows(numbers_dtype(source), b.numbers, count,
                                             source->columns, found + first);
    }
    block_free(&b);
    if (status == COLLET_OK && ternary)
        recipe->exact = found;
    else
        free(found);
    return status;
}

collet_status ternary_recipe_of(ternary_call *call, ternary_recipe *recipe,
                                const ternary_source *source,
                                const collet_ternary_quantize_params *quantize, uint32_t format)
{
    size_t size = sizeof recipe->params;
    collet_status status = COLLET_OK;

    *recipe = (ternary_recipe){
        .quantize = quantize != NULL, .params = ternary_standard, .format = format};
    if (quantize && source->content == COLLET_TERNARY_CODES)
        return collet_fail(&call->error, COLLET_INVALID,
                           "%s: the matrix has codes; --threshold and --absmean are only for "
                           "floating-point weights",
                           source->text);
    if (quantize)
        status = io_struct_in(&recipe->params, size, quantize, source->text, &call->error);
    recipe->params.struct_size = (uint32_t)size;
    if (status == COLLET_OK && makes_codes(recipe, source) &&
        ternary_recognises(quantize ? &recipe->params : NULL))
        status = recognise(call, recipe, source);
    return status;
}

void ternary_recipe_free(ternary_recipe *recipe)
{
    free(recipe->exact);
    recipe->exact = NULL;
}
