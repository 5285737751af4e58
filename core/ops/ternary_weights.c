/* SPDX-License-Identifier: Apache-2.0 */
/* Packed weights that are known to be valid. Made of public calls alone. */
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>

#include "runtime/context.h"
#include "ops/ternary.h"

/* What is looked through at a time, so that checking takes little memory. */
#define STRETCH_BYTES (1 << 20)
#define STRETCH_ROWS (16 << 10)

#define BLOCK_BYTES 64 /* of t2 */

collet_status ternary_share(collet_context *cx, collet_array **out, const collet_array *array)
{
    *out = NULL;
    if (!array)
        return COLLET_OK;
    return collet_array_slice(cx, out, array, 0, 0, collet_array_shape(array)[0], 1);
}

/* ---- Making ---------------------------------------------------------------------------------- */

static collet_status weights_new(collet_context *cx, collet_ternary_weights **out, int64_t columns)
{
    *out = calloc(1, sizeof **out);
    if (!*out)
        return context_fail(cx, COLLET_NO_MEMORY, "out of memory for ternary weights");
    (*out)->columns = columns;
    return COLLET_OK;
}

void collet_ternary_weights_free(collet_ternary_weights *weights)
{
    if (!weights)
        return;
    collet_array_free(weights->bytes);
    collet_array_free(weights->scale);
    free(weights);
}

/* Frees what was begun when `status` says that it failed. */
static collet_status finish(collet_ternary_weights **out, collet_ternary_weights *made,
                            collet_status status)
{
    if (status == COLLET_OK)
        *out = made;
    else
        collet_ternary_weights_free(made);
    return status;
}

static collet_status check_matrix(collet_context *cx, const char *function, const char *what,
                                  const void *out, const collet_array *matrix)
{
    if (!cx)
        return COLLET_INVALID;
    if (!out || !matrix)
        return context_fail(cx, COLLET_INVALID, "%s: an argument that must not be NULL is",
                            function);
    if (collet_array_ndim(matrix) != 2)
        return context_fail(cx, COLLET_SHAPE, "%s: %s have %d axes, a matrix has 2", function, what,
                            (int)collet_array_ndim(matrix));
    return COLLET_OK;
}

static collet_status check_scale(collet_context *cx, const char *function,
                                 const collet_array *scale, int64_t rows)
{
    if (!scale)
        return COLLET_OK;
    if (collet_array_dtype(scale) != COLLET_F32)
        return context_fail(cx, COLLET_DTYPE, "%s: the scales are %s, not f32", function,
                            collet_dtype_name(collet_array_dtype(scale)));
    if (collet_array_ndim(scale) != 1 || collet_array_shape(scale)[0] != rows)
        return context_fail(cx, COLLET_SHAPE, "%s: %" PRId64 " scales for %" PRId64 " rows",
                            function, collet_array_size(scale), rows);
    return COLLET_OK;
}

static collet_status copy_scale(collet_context *cx, collet_array **out, const collet_array *scale)
{
    if (!scale)
        return COLLET_OK;
    collet_status status = collet_array_create(cx, out, COLLET_F32, 1, collet_array_shape(scale));
    return status == COLLET_OK ? collet_copy(cx, *out, scale) : status;
}

/* The number that a kernel left in `info`, which is waited for. */
static collet_status read_info(collet_context *cx, const collet_array *info, int32_t *count)
{
    return collet_array_read(cx, info, count, sizeof *count);
}

/* weights->bytes from the codes; INVALID where some are none. */
static collet_status pack(collet_context *cx, collet_ternary_weights *weights,
                          const collet_array *codes)
{
    int64_t shape[2] = {collet_array_shape(codes)[0],
                        collet_ternary_bytes(COLLET_TERNARY_T2, weights->columns)};
    collet_array *info = NULL;
    int32_t wrong = 0;
    collet_status status = collet_array_create(cx, &info, COLLET_I32, 0, NULL);
    if (status == COLLET_OK)
        status = collet_array_create(cx, &weights->bytes, COLLET_U8, 2, shape);
    if (status == COLLET_OK)
        status = collet_ternary_pack(cx, weights->bytes, info, codes, NULL, COLLET_TERNARY_T2);
    if (status == COLLET_OK)
        status = read_info(cx, info, &wrong);
    if (status == COLLET_OK && wrong)
        status =
            context_fail(cx, COLLET_INVALID,
                         "ternary weights: %" PRId32 " of the codes are none of -1, 0, 1", wrong);
    collet_array_free(info);
    return status;
}

collet_status collet_ternary_weights_from_codes(collet_context *cx, collet_ternary_weights **out,
                                                const collet_array *codes,
                                                const collet_array *scale)
{
    static const char function[] = "collet_ternary_weights_from_codes";
    collet_ternary_weights *made = NULL;
    collet_status status = check_matrix(cx, function, "codes", out, codes);
    if (status == COLLET_OK)
        status = check_scale(cx, function, scale, collet_array_shape(codes)[0]);
    if (status == COLLET_OK)
        status = weights_new(cx, &made, collet_array_shape(codes)[1]);
    if (status == COLLET_OK)
        status = pack(cx, made, codes);
    if (status == COLLET_OK)
        status = copy_scale(cx, &made->scale, scale);
    return finish(out, made, status);
}

static collet_status quantize(collet_context *cx, collet_array *codes, collet_array *scale,
                              const collet_array *weights,
                              const collet_ternary_quantize_params *params)
{
    collet_array *info = NULL;
    int32_t strange = 0;
    collet_status status = collet_array_create(cx, &info, COLLET_I32, 0, NULL);
    if (status == COLLET_OK)
        status = collet_ternary_quantize(cx, codes, scale, info, weights, params);
    if (status == COLLET_OK)
        status = read_info(cx, info, &strange);
    if (status == COLLET_OK && strange)
        status = context_fail(cx, COLLET_INVALID,
                              "ternary weights: %" PRId32
                              " of the weights are not finite numbers; nothing was packed",
                              strange);
    collet_array_free(info);
    return status;
}

/* Of an older caller's block too, which may end before the field. */
static int takes_means(const collet_ternary_quantize_params *params)
{
    return params->struct_size >= offsetof(collet_ternary_quantize_params, threshold) &&
           params->mode == COLLET_TERNARY_ABSMEAN;
}

collet_status collet_ternary_weights_quantize(collet_context *cx, collet_ternary_weights **out,
                                              const collet_array *weights,
                                              const collet_ternary_quantize_params *params)
{
    collet_ternary_weights *made = NULL;
    collet_array *codes = NULL;
    collet_status status =
        check_matrix(cx, "collet_ternary_weights_quantize", "weights", out, weights);
    if (status == COLLET_OK && !params)
        status = context_fail(cx, COLLET_INVALID, "collet_ternary_weights_quantize: no parameters");
    if (status == COLLET_OK)
        status = weights_new(cx, &made, collet_array_shape(weights)[1]);
    if (status == COLLET_OK)
        status = collet_array_create(cx, &codes, COLLET_I8, 2, collet_array_shape(weights));
    if (status == COLLET_OK && takes_means(params))
        status = collet_array_create(cx, &made->scale, COLLET_F32, 1, collet_array_shape(weights));
    if (status == COLLET_OK)
        status = quantize(cx, codes, made->scale, weights, params);
    if (status == COLLET_OK)
        status = pack(cx, made, codes);
    collet_array_free(codes);
    return finish(out, made, status);
}

/* ---- Checking bytes that come from elsewhere ------------------------------------------------- */

/* Counts the invalid codes of packed rows (N, B), all their weights taken for real; brings those of
 * the last `padding` columns into `tail` (N x padding), unless that is NULL. */
static collet_status unpack_some(collet_context *cx, const collet_array *rows, int64_t padding,
                                 int8_t *tail, int32_t *wrong)
{
    int64_t count = collet_array_shape(rows)[0], columns = 4 * collet_array_shape(rows)[1];
    collet_array *codes = NULL, *info = NULL, *last = NULL;
    collet_status status = collet_array_create(cx, &info, COLLET_I32, 0, NULL);
    if (status == COLLET_OK)
        status = collet_array_create(cx, &codes, COLLET_I8, 2, (int64_t[]){count, columns});
    if (status == COLLET_OK)
        status = collet_ternary_unpack(cx, codes, NULL, info, rows, COLLET_TERNARY_T2);
    if (status == COLLET_OK)
        status = read_info(cx, info, wrong);
    if (status == COLLET_OK && tail)
        status = collet_array_slice(cx, &last, codes, 1, columns - padding, padding, 1);
    if (status == COLLET_OK && tail)
        status = collet_array_read(cx, last, tail, (size_t)(count * padding));
    collet_array_free(last);
    collet_array_free(codes);
    collet_array_free(info);
    return status;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The invalid codes of some rows, which may lie apart, a stretch of columns at a time. */
static collet_status count_wrong(collet_context *cx, const collet_array *rows, int64_t *wrong)
{
    int64_t width = collet_array_shape(rows)[1];
    collet_status status = COLLET_OK;
    for (int64_t at = 0; at < width && status == COLLET_OK; at += STRETCH_BYTES) {
        collet_array *stretch = NULL;
        int32_t here = 0;
        status = collet_array_slice(cx, &stretch, rows, 1, at, least(width - at, STRETCH_BYTES), 1);
        if (status == COLLET_OK)
            status = unpack_some(cx, stretch, 0, NULL, &here);
        *wrong += here;
        collet_array_free(stretch);
    }
    return status;
}

/* All codes, as many rows at a time as make a stretch. */
static collet_status check_codes(collet_context *cx, const collet_array *bytes)
{
    int64_t rows = collet_array_shape(bytes)[0], width = collet_array_shape(bytes)[1], wrong = 0;
    int64_t together = width && width < STRETCH_BYTES ? STRETCH_BYTES / width : 1;
    collet_status status = COLLET_OK;
    for (int64_t at = 0; width && at < rows && status == COLLET_OK; at += together) {
        collet_array *some = NULL;
        status = collet_array_slice(cx, &some, bytes, 0, at, least(rows - at, together), 1);
        if (status == COLLET_OK)
            status = count_wrong(cx, some, &wrong);
        collet_array_free(some);
    }
    if (status == COLLET_OK && wrong)
        status =
            context_fail(cx, COLLET_INVALID,
                         "ternary weights: %" PRId64 " codes are 11, which is no weight", wrong);
    return status;
}

/* The last block of each row, some rows at a time. */
static collet_status check_padding(collet_context *cx, const collet_array *bytes, int64_t columns)
{
    int64_t rows = collet_array_shape(bytes)[0], width = collet_array_shape(bytes)[1];
    int64_t padding = 4 * width - columns;
    collet_array *last = NULL;
    if (padding == 0 || rows == 0)
        return COLLET_OK;
    int8_t *tail = malloc((size_t)(least(rows, STRETCH_ROWS) * padding));
    if (!tail)
        return context_fail(cx, COLLET_NO_MEMORY, "out of memory for checking ternary weights");
    collet_status status =
        collet_array_slice(cx, &last, bytes, 1, width - BLOCK_BYTES, BLOCK_BYTES, 1);
    for (int64_t at = 0; at < rows && status == COLLET_OK; at += STRETCH_ROWS) {
        int64_t count = least(rows - at, STRETCH_ROWS);
        collet_array *some = NULL;
        int32_t wrong;
        status = collet_array_slice(cx, &some, last, 0, at, count, 1);
        if (status == COLLET_OK)
            status = unpack_some(cx, some, padding, tail, &wrong);
        for (int64_t i = 0; status == COLLET_OK && i < count * padding; i++)
            if (tail[i])
                status = context_fail(cx, COLLET_INVALID,
                                      "ternary weights: row %" PRId64
                                      " has a weight %d behind its %" PRId64
                                      " columns, where only 0 may be",
                                      at + i / padding, tail[i], columns);
        collet_array_free(some);
    }
    collet_array_free(last);
    free(tail);
    return status;
}

static collet_status check_bytes(collet_context *cx, const collet_array *bytes, int64_t columns)
{
    int64_t wanted = collet_ternary_bytes(COLLET_TERNARY_T2, columns);
    if (collet_array_dtype(bytes) != COLLET_U8)
        return context_fail(cx, COLLET_DTYPE, "ternary weights: the bytes are %s, not u8",
                            collet_dtype_name(collet_array_dtype(bytes)));
    if (collet_array_shape(bytes)[1] != wanted)
        return context_fail(cx, COLLET_SHAPE,
                            "ternary weights: rows of %" PRId64 " bytes; %" PRId64
                            " columns take %" PRId64,
                            collet_array_shape(bytes)[1], columns, wanted);
    collet_status status = check_codes(cx, bytes);
    return status == COLLET_OK ? check_padding(cx, bytes, columns) : status;
}

collet_status collet_ternary_weights_from_bytes(collet_context *cx, collet_ternary_weights **out,
                                                const collet_array *bytes, int64_t columns,
                                                const collet_array *scale)
{
    static const char function[] = "collet_ternary_weights_from_bytes";
    collet_ternary_weights *made = NULL;
    collet_status status = check_matrix(cx, function, "bytes", out, bytes);
    if (status == COLLET_OK)
        status = check_scale(cx, function, scale, collet_array_shape(bytes)[0]);
    if (status == COLLET_OK)
        status = check_bytes(cx, bytes, columns);
    if (status == COLLET_OK)
        status = weights_new(cx, &made, columns);
    if (status == COLLET_OK)
        status = ternary_share(cx, &made->bytes, bytes);
    if (status == COLLET_OK)
        status = copy_scale(cx, &made->scale, scale);
    return finish(out, made, status);
}

/* ---- Asking ---------------------------------------------------------------------------------- */

int64_t collet_ternary_weights_rows(const collet_ternary_weights *weights)
{
    return collet_array_shape(weights->bytes)[0];
}

int64_t collet_ternary_weights_columns(const collet_ternary_weights *weights)
{
    return weights->columns;
}

const collet_array *collet_ternary_weights_bytes(const collet_ternary_weights *weights)
{
    return weights->bytes;
}

const collet_array *collet_ternary_weights_scale(const collet_ternary_weights *weights)
{
    return weights->scale;
}
