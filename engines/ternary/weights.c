/* SPDX-License-Identifier: Apache-2.0 */
/* Packed weights that are known to be valid. */
#include "ternary/weights.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>

/* Checked at a time, so that checking takes little memory. */
#define CHUNK_BYTES (1 << 20)
#define CHUNK_ROWS (16 << 10)

#define BLOCK_BYTES 64 /* of t2 */

collet_status ternary_share(collet_context *context, collet_array **out, const collet_array *array)
{
    *out = NULL;
    if (!array)
        return COLLET_OK;
    return collet_array_slice(context, out, array, 0, 0, collet_array_shape(array)[0], 1);
}

int ternary_is_local(const collet_context *context, const collet_array *array)
{
    return !array || collet_array_runtime(array) == collet_context_runtime(context);
}

/* ---- Creation -------------------------------------------------------------------------------- */

static collet_status weights_new(ternary_call *call, collet_ternary_weights **out, int64_t columns)
{
    *out = calloc(1, sizeof **out);
    if (!*out)
        return collet_fail(&call->error, COLLET_NO_MEMORY, "out of memory for ternary weights");
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

/* Frees `made` after a failure. */
static collet_status finish(collet_ternary_weights **out, collet_ternary_weights *made,
                            collet_status status)
{
    if (status == COLLET_OK)
        *out = made;
    else
        collet_ternary_weights_free(made);
    return status;
}

collet_status ternary_weights_adopt(ternary_call *call, collet_ternary_weights **out,
                                    collet_array *bytes, collet_array *scale, int64_t columns)
{
    collet_status status = weights_new(call, out, columns);
    if (status == COLLET_OK) {
        (*out)->bytes = bytes;
        (*out)->scale = scale;
    } else {
        collet_array_free(bytes);
        collet_array_free(scale);
    }
    return status;
}

static collet_status check_matrix(ternary_call *call, const char *function, const char *what,
                                  const void *out, const collet_array *matrix)
{
    if (!out || !matrix)
        return collet_fail(&call->error, COLLET_INVALID, "%s: an argument that must not be NULL is",
                           function);
    if (collet_array_ndim(matrix) != 2)
        return collet_fail(&call->error, COLLET_SHAPE, "%s: %s have %d axes, a matrix has 2",
                           function, what, (int)collet_array_ndim(matrix));
    return COLLET_OK;
}

static collet_status check_scale(ternary_call *call, const char *function,
                                 const collet_array *scale, int64_t rows)
{
    if (!scale)
        return COLLET_OK;
    if (collet_array_dtype(scale) != COLLET_F32)
        return collet_fail(&call->error, COLLET_DTYPE, "%s: the scales are %s, not f32", function,
                           collet_dtype_name(collet_array_dtype(scale)));
    if (collet_array_ndim(scale) != 1 || collet_array_shape(scale)[0] != rows)
        return collet_fail(&call->error, COLLET_SHAPE,
                           "%s: %" PRId64 " scales for %" PRId64 " rows", function,
                           collet_array_size(scale), rows);
    return COLLET_OK;
}

static collet_status copy_scale(ternary_call *call, collet_array **out, const collet_array *scale)
{
    if (!scale)
        return COLLET_OK;
    collet_status status =
        collet_array_create(call->context, out, COLLET_F32, 1, collet_array_shape(scale));
    return status == COLLET_OK ? collet_copy(call->context, *out, scale) : status;
}

/* The number that a kernel wrote to `info`; waits for it. */
static collet_status read_info(collet_context *cx, const collet_array *info, int32_t *count)
{
    return collet_array_read(cx, info, count, sizeof *count);
}

/* weights->bytes from the codes; INVALID where some are invalid. */
static collet_status pack(ternary_call *call, collet_ternary_weights *weights,
                          const collet_array *codes)
{
    collet_context *cx = call->context;
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
            collet_fail(&call->error, COLLET_INVALID,
                        "ternary weights: %" PRId32 " of the codes are none of -1, 0, 1", wrong);
    collet_array_free(info);
    return status;
}

collet_status ternary_weights_from_codes(ternary_call *call, collet_ternary_weights **out,
                                         const collet_array *codes, const collet_array *scale)
{
    static const char function[] = "collet_ternary_weights_from_codes";
    collet_ternary_weights *made = NULL;
    collet_status status = check_matrix(call, function, "codes", out, codes);
    if (status == COLLET_OK)
        status = check_scale(call, function, scale, collet_array_shape(codes)[0]);
    if (status == COLLET_OK)
        status = weights_new(call, &made, collet_array_shape(codes)[1]);
    if (status == COLLET_OK)
        status = pack(call, made, codes);
    if (status == COLLET_OK)
        status = copy_scale(call, &made->scale, scale);
    return finish(out, made, status);
}

static collet_status quantize(ternary_call *call, collet_array *codes, collet_array *scale,
                              const collet_array *weights,
                              const collet_ternary_quantize_params *params)
{
    collet_context *cx = call->context;
    collet_array *info = NULL;
    int32_t infinite = 0;
    collet_status status = collet_array_create(cx, &info, COLLET_I32, 0, NULL);
    if (status == COLLET_OK)
        status = collet_ternary_quantize(cx, codes, scale, info, weights, params);
    if (status == COLLET_OK)
        status = read_info(cx, info, &infinite);
    if (status == COLLET_OK && infinite)
        status = collet_fail(&call->error, COLLET_INVALID,
                             "ternary weights: %" PRId32
                             " of the weights are not finite numbers; nothing was packed",
                             infinite);
    collet_array_free(info);
    return status;
}

/* An older caller's block may end before the field. */
static int takes_means(const collet_ternary_quantize_params *params)
{
    return params->struct_size >= offsetof(collet_ternary_quantize_params, threshold) &&
           params->mode == COLLET_TERNARY_ABSMEAN;
}

static collet_status weights_quantize(ternary_call *call, collet_ternary_weights **out,
                                      const collet_array *weights,
                                      const collet_ternary_quantize_params *params)
{
    static const char function[] = "collet_ternary_weights_quantize";
    collet_ternary_weights *made = NULL;
    collet_array *codes = NULL;
    collet_status status = check_matrix(call, function, "weights", out, weights);
    if (status == COLLET_OK && !params)
        status = collet_fail(&call->error, COLLET_INVALID, "%s: no parameters", function);
    if (status != COLLET_OK)
        return status;
    const int64_t *shape = collet_array_shape(weights);
    status = weights_new(call, &made, shape[1]);
    if (status == COLLET_OK)
        status = collet_array_create(call->context, &codes, COLLET_I8, 2, shape);
    if (status == COLLET_OK && takes_means(params))
        status = collet_array_create(call->context, &made->scale, COLLET_F32, 1, shape);
    if (status == COLLET_OK)
        status = quantize(call, codes, made->scale, weights, params);
    if (status == COLLET_OK)
        status = pack(call, made, codes);
    collet_array_free(codes);
    return finish(out, made, status);
}

/* ---- Checking packed bytes ------------------------------------------------------------------- */

/* Counts the invalid codes of packed rows (N, B), padding included; copies those of the last
 * `padding` columns to `tail` (N x padding) unless that is NULL. */
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

static int64_t min_i64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The invalid codes of some rows, which need not be adjacent, a chunk of columns at a time. */
static collet_status count_wrong(ternary_call *call, const collet_array *rows, int64_t *wrong)
{
    int64_t count = collet_array_shape(rows)[0], width = collet_array_shape(rows)[1];
    collet_status status = COLLET_OK;
    for (int64_t at = 0; at < width && status == COLLET_OK; at += CHUNK_BYTES) {
        int64_t bytes = min_i64(width - at, CHUNK_BYTES);
        collet_array *chunk = NULL;
        int32_t here = 0;
        status = collet_array_slice(call->context, &chunk, rows, 1, at, bytes, 1);
        if (status == COLLET_OK)
            status = unpack_some(call->context, chunk, 0, NULL, &here);
        *wrong += here;
        collet_array_free(chunk);
        if (status == COLLET_OK)
            status = ternary_call_advance(call, 4 * bytes * count);
    }
    return status;
}

/* All codes, as many rows at a time as fill a chunk. */
static collet_status check_codes(ternary_call *call, const collet_array *bytes)
{
    int64_t rows = collet_array_shape(bytes)[0], width = collet_array_shape(bytes)[1], wrong = 0;
    int64_t together = width && width < CHUNK_BYTES ? CHUNK_BYTES / width : 1;
    collet_status status = COLLET_OK;
    for (int64_t at = 0; width && at < rows && status == COLLET_OK; at += together) {
        collet_array *some = NULL;
        status =
            collet_array_slice(call->context, &some, bytes, 0, at, min_i64(rows - at, together), 1);
        if (status == COLLET_OK)
            status = count_wrong(call, some, &wrong);
        collet_array_free(some);
    }
    if (status == COLLET_OK && wrong)
        status =
            collet_fail(&call->error, COLLET_INVALID,
                        "ternary weights: %" PRId64 " codes are 11, which is no weight", wrong);
    return status;
}

static collet_status check_tail(ternary_call *call, const int8_t *tail, int64_t first,
                                int64_t count, int64_t padding, int64_t columns)
{
    for (int64_t i = 0; i < count * padding; i++)
        if (tail[i])
            return collet_fail(&call->error, COLLET_INVALID,
                               "ternary weights: row %" PRId64 " has a weight %d after its %" PRId64
                               " columns, where only 0 may be",
                               first + i / padding, tail[i], columns);
    return COLLET_OK;
}

/* The last block of each row, some rows at a time. */
static collet_status check_padding(ternary_call *call, const collet_array *bytes, int64_t columns)
{
    collet_context *cx = call->context;
    int64_t rows = collet_array_shape(bytes)[0], width = collet_array_shape(bytes)[1];
    int64_t padding = 4 * width - columns;
    collet_array *last = NULL;
    if (padding == 0 || rows == 0)
        return COLLET_OK;
    int8_t *tail = malloc((size_t)(min_i64(rows, CHUNK_ROWS) * padding));
    if (!tail)
        return collet_fail(&call->error, COLLET_NO_MEMORY,
                           "out of memory for checking ternary weights");
    collet_status status =
        collet_array_slice(cx, &last, bytes, 1, width - BLOCK_BYTES, BLOCK_BYTES, 1);
    for (int64_t at = 0; at < rows && status == COLLET_OK; at += CHUNK_ROWS) {
        int64_t count = min_i64(rows - at, CHUNK_ROWS);
        collet_array *some = NULL;
        int32_t wrong;
        status = collet_array_slice(cx, &some, last, 0, at, count, 1);
        if (status == COLLET_OK)
            status = unpack_some(cx, some, padding, tail, &wrong);
        if (status == COLLET_OK)
            status = check_tail(call, tail, at, count, padding, columns);
        if (status == COLLET_OK)
            status = ternary_call_advance(call, 0);
        collet_array_free(some);
    }
    collet_array_free(last);
    free(tail);
    return status;
}

static collet_status check_bytes(ternary_call *call, const collet_array *bytes, int64_t columns)
{
    int64_t needed = collet_ternary_bytes(COLLET_TERNARY_T2, columns);
    if (collet_array_dtype(bytes) != COLLET_U8)
        return collet_fail(&call->error, COLLET_DTYPE, "ternary weights: the bytes are %s, not u8",
                           collet_dtype_name(collet_array_dtype(bytes)));
    if (collet_array_shape(bytes)[1] != needed)
        return collet_fail(&call->error, COLLET_SHAPE,
                           "ternary weights: rows of %" PRId64 " bytes; %" PRId64
                           " columns take %" PRId64,
                           collet_array_shape(bytes)[1], columns, needed);
    collet_status status = check_codes(call, bytes);
    return status == COLLET_OK ? check_padding(call, bytes, columns) : status;
}

collet_status ternary_weights_from_bytes(ternary_call *call, collet_ternary_weights **out,
                                         const collet_array *bytes, int64_t columns,
                                         const collet_array *scale)
{
    static const char function[] = "collet_ternary_weights_from_bytes";
    collet_ternary_weights *made = NULL;
    collet_status status = check_matrix(call, function, "bytes", out, bytes);
    if (status == COLLET_OK)
        status = check_scale(call, function, scale, collet_array_shape(bytes)[0]);
    if (status == COLLET_OK)
        status = check_bytes(call, bytes, columns);
    if (status == COLLET_OK)
        status = weights_new(call, &made, columns);
    if (status == COLLET_OK)
        status = ternary_share(call->context, &made->bytes, bytes);
    if (status == COLLET_OK)
        status = copy_scale(call, &made->scale, scale);
    return finish(out, made, status);
}

/* ---- Public functions ------------------------------------------------------------------------ */

static collet_status no_context(collet_error *err, const char *function)
{
    return collet_fail(err, COLLET_INVALID, "%s: the context is NULL", function);
}

collet_status collet_ternary_weights_quantize(collet_context *context, collet_ternary_weights **out,
                                              const collet_array *weights,
                                              const collet_ternary_quantize_params *params,
                                              collet_error *err)
{
    ternary_call call;
    if (!context)
        return no_context(err, __func__);
    ternary_call_begin(&call, context, NULL);
    return ternary_call_end(&call, weights_quantize(&call, out, weights, params), err);
}

collet_status collet_ternary_weights_from_codes(collet_context *context,
                                                collet_ternary_weights **out,
                                                const collet_array *codes,
                                                const collet_array *scale, collet_error *err)
{
    ternary_call call;
    if (!context)
        return no_context(err, __func__);
    ternary_call_begin(&call, context, NULL);
    return ternary_call_end(&call, ternary_weights_from_codes(&call, out, codes, scale), err);
}

collet_status collet_ternary_weights_from_bytes(collet_context *context,
                                                collet_ternary_weights **out,
                                                const collet_array *bytes, int64_t columns,
                                                const collet_array *scale,
                                                const collet_ternary_monitor *monitor,
                                                collet_error *err)
{
    ternary_call call;
    if (!context)
        return no_context(err, __func__);
    ternary_call_begin(&call, context, monitor);
    if (bytes) /* (a broadcast view may have more elements than any memory) */
        call.total = 4 * min_i64(collet_array_size(bytes), INT64_MAX / 4);
    return ternary_call_end(&call, ternary_weights_from_bytes(&call, out, bytes, columns, scale),
                            err);
}

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
