/* SPDX-License-Identifier: Apache-2.0 */
/* Creates packed weights, and checks that they are valid.
 * Tests: tests/engines/test_ternary_weights.c, tests/engines/test_ternary_files.c */
#include "ternary/weights.h"
#include "ternary/recognise.h"
#include "ternary/result.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <collet/floating.h>
#include <collet/ops/array.h>
#include <collet/ops/ternary.h>

#define CHUNK_BYTES ((int64_t)1 << 18) /* bytes checked at a time: a million weights */
#define BLOCK_BYTES 64                 /* bytes of a block in t2 */
#define CODES_AT_A_TIME ((int64_t)1 << 20)

static int64_t min_i64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

collet_status ternary_share(collet_context *context, collet_array **out, const collet_array *array)
{
    *out = NULL;
    if (!array)
        return COLLET_OK;
    return collet_array_slice(context, array, out, 0, 0, collet_array_shape(array)[0], 1);
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

void collet_ternary_weights_destroy(collet_ternary_weights *weights)
{
    if (!weights)
        return;
    collet_array_destroy(weights->bytes);
    collet_array_destroy(weights->scale);
    free(weights);
}

/* Sets *out to `made`; after a failure frees `made` instead. Returns `status`. */
static collet_status finish(collet_ternary_weights **out, collet_ternary_weights *made,
                            collet_status status)
{
    if (status == COLLET_OK)
        *out = made;
    else
        collet_ternary_weights_destroy(made);
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
        collet_array_destroy(bytes);
        collet_array_destroy(scale);
    }
    return status;
}

/* Checks a matrix that the caller passed; `name` is its name in messages. */
static collet_status check_matrix(ternary_call *call, const char *what, const char *name,
                                  const void *out, const collet_array *matrix)
{
    if (!out || !matrix)
        return collet_fail(&call->error, COLLET_INVALID, "%s: a required argument is NULL", what);
    if (!ternary_is_local(call->context, matrix))
        return collet_fail(&call->error, COLLET_INVALID, "%s: %s belong to another runtime", what,
                           name);
    if (collet_array_ndim(matrix) != 2)
        return collet_fail(&call->error, COLLET_SHAPE, "%s: %s have %d axes; a matrix must have 2",
                           what, name, (int)collet_array_ndim(matrix));
    return COLLET_OK;
}

static collet_status check_dtype(ternary_call *call, const char *what, const char *name,
                                 const collet_array *array, collet_dtype dtype)
{
    return collet_array_dtype(array) == dtype
               ? (collet_status)COLLET_OK
               : collet_fail(&call->error, COLLET_DTYPE, "%s: %s are %s; they must be %s", what,
                             name, collet_dtype_name(collet_array_dtype(array)),
                             collet_dtype_name(dtype));
}

static collet_status check_scale(ternary_call *call, const char *what, const collet_array *scale,
                                 int64_t rows)
{
    if (!scale)
        return COLLET_OK;
    if (!ternary_is_local(call->context, scale))
        return collet_fail(&call->error, COLLET_INVALID, "%s: the scales belong to another runtime",
                           what);
    if (collet_array_ndim(scale) != 1 || collet_array_shape(scale)[0] != rows)
        return collet_fail(&call->error, COLLET_SHAPE,
                           "%s: there are %" PRId64 " scales for %" PRId64
                           " rows; give one for each row",
                           what, collet_array_size(scale), rows);
    return check_dtype(call, what, "the scales", scale, COLLET_F32);
}

static collet_status copy_scale(ternary_call *call, collet_array **out, const collet_array *scale)
{
    if (!scale)
        return COLLET_OK;
    collet_status status =
        collet_array_create(call->context, out, COLLET_F32, 1, collet_array_shape(scale));
    return status == COLLET_OK ? collet_op_copy(call->context, *out, scale) : status;
}

/* Makes weights->bytes from the codes; INVALID if any code is invalid. */
static collet_status pack(ternary_call *call, const char *what, collet_ternary_weights *weights,
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
        status = collet_op_ternary_pack(cx, weights->bytes, info, codes, NULL, COLLET_TERNARY_T2);
    if (status == COLLET_OK)
        status = collet_array_read(cx, info, &wrong, sizeof wrong);
    if (status == COLLET_OK && wrong)
        status = collet_fail(&call->error, COLLET_INVALID,
                             "%s: %" PRId32 " codes are not -1, 0 or 1; no others are allowed",
                             what, wrong);
    collet_array_destroy(info);
    return status;
}

static collet_status weights_from_codes(ternary_call *call, const char *what,
                                        collet_ternary_weights **out, const collet_array *codes,
                                        const collet_array *scale)
{
    collet_ternary_weights *made = NULL;
    collet_status status = check_matrix(call, what, "codes", out, codes);
    if (status == COLLET_OK)
        status = check_dtype(call, what, "codes", codes, COLLET_I8);
    if (status == COLLET_OK)
        status = check_scale(call, what, scale, collet_array_shape(codes)[0]);
    if (status == COLLET_OK)
        status = weights_new(call, &made, collet_array_shape(codes)[1]);
    if (status == COLLET_OK)
        status = pack(call, what, made, codes);
    if (status == COLLET_OK)
        status = copy_scale(call, &made->scale, scale);
    return finish(out, made, status);
}

static collet_status quantize(ternary_call *call, const char *what, collet_array *codes,
                              collet_array *scale, const collet_array *weights,
                              const collet_ternary_quantize_params *params)
{
    collet_context *cx = call->context;
    collet_array *info = NULL;
    int32_t infinite = 0;
    collet_status status = collet_array_create(cx, &info, COLLET_I32, 0, NULL);
    if (status == COLLET_OK)
        status = collet_op_ternary_quantize(cx, codes, scale, info, weights, params);
    if (status == COLLET_OK)
        status = collet_array_read(cx, info, &infinite, sizeof infinite);
    if (status == COLLET_OK && infinite)
        status = collet_fail(&call->error, COLLET_INVALID,
                             "%s: %" PRId32 " weights are not finite; no weights were packed", what,
                             infinite);
    collet_array_destroy(info);
    return status;
}

/* Copies bytes `at` .. `at` + n - 1 of each of the rows first .. first + count - 1. */
static collet_status read_part(collet_context *cx, const collet_array *bytes, int64_t first,
                               int64_t count, int64_t at, int64_t n, void *out)
{
    collet_array *rows = NULL, *part = NULL;
    collet_status status = collet_array_slice(cx, bytes, &rows, 0, first, count, 1);
    if (status == COLLET_OK)
        status = collet_array_slice(cx, rows, &part, 1, at, n, 1);
    if (status == COLLET_OK)
        status = collet_array_read(cx, part, out, (size_t)(count * n));
    collet_array_destroy(part);
    collet_array_destroy(rows);
    return status;
}

static collet_status check_floating(ternary_call *call, const char *what,
                                    const collet_array *weights)
{
    collet_dtype dtype = collet_array_dtype(weights);
    if (dtype == COLLET_F32 || dtype == COLLET_F64 || dtype == COLLET_F16 || dtype == COLLET_BF16)
        return COLLET_OK;
    return collet_fail(&call->error, COLLET_DTYPE,
                       "%s: weights are %s; they must be f32, f64, f16 or bf16", what,
                       collet_dtype_name(dtype));
}

/* Checks and counts codes (rows, columns), a few rows at a time. scale: one for each row, or NULL. */
static collet_status check_codes(ternary_call *call, const char *what, const collet_array *codes,
                                 const float *scale, collet_ternary_counts *counts)
{
    int64_t rows = collet_array_shape(codes)[0], columns = collet_array_shape(codes)[1];
    int64_t most = columns < CODES_AT_A_TIME ? CODES_AT_A_TIME / (columns + !columns) : 1;
    int8_t *some = malloc((size_t)(most * columns) + 1);
    collet_status status = COLLET_OK;
    if (!some)
        return collet_fail(&call->error, COLLET_NO_MEMORY,
                           "%s: no memory to check %" PRId64 " codes", what, most * columns);
    for (int64_t row = 0, count; columns > 0 && row < rows && status == COLLET_OK; row += count) {
        count = min_i64(rows - row, most);
        status = read_part(call->context, codes, row, count, 0, columns, some);
        if (status == COLLET_OK && scale)
            status =
                ternary_check_scales(what, some, scale + row, row, count, columns, &call->error);
        if (status == COLLET_OK)
            ternary_count_codes(some, count * columns, counts);
        if (status == COLLET_OK)
            status = ternary_call_advance(call, count * columns);
    }
    free(some);
    return status;
}

/* Checks the codes and scales that quantize() made. */
static collet_status check_made(ternary_call *call, const char *what, const collet_array *codes,
                                const collet_array *scale,
                                const collet_ternary_quantize_params *params)
{
    int64_t rows = collet_array_shape(codes)[0];
    float *numbers = scale ? malloc((size_t)rows * sizeof *numbers + 1) : NULL;
    collet_ternary_counts counts = {0};
    collet_status status = COLLET_OK;
    if (scale && !numbers)
        return collet_fail(&call->error, COLLET_NO_MEMORY,
                           "%s: no memory to check %" PRId64 " scales", what, rows);
    if (scale)
        status = collet_array_read(call->context, scale, numbers, (size_t)rows * sizeof *numbers);
    if (status == COLLET_OK)
        status = check_codes(call, what, codes, numbers, &counts);
    if (status == COLLET_OK)
        ternary_warn_of_counts(call, "weights", &counts, params);
    free(numbers);
    return status;
}

/* Computes the codes, and made->scale unless all scales are 1. `exact`: the scales, if the weights are already
 * ternary; else NULL. */
static collet_status make_codes(ternary_call *call, const char *what, collet_ternary_weights *made,
                                collet_array *codes, const collet_array *weights,
                                const float *exact, const collet_ternary_quantize_params *params)
{
    const int64_t *shape = collet_array_shape(weights);
    int means = !exact && params != &ternary_standard && ternary_recognises(params);
    int scaled = means || (exact && ternary_scales_differ(exact, shape[0]));
    collet_status status =
        scaled ? collet_array_create(call->context, &made->scale, COLLET_F32, 1, shape)
               : (collet_status)COLLET_OK;
    if (status == COLLET_OK)
        status = quantize(call, what, codes, means ? made->scale : NULL, weights,
                          exact ? &ternary_signs : params);
    if (status == COLLET_OK && scaled && exact)
        status =
            collet_array_write(call->context, made->scale, exact, (size_t)shape[0] * sizeof *exact);
    return status == COLLET_OK ? check_made(call, what, codes, made->scale, exact ? NULL : params)
                               : status;
}

static collet_status weights_quantize(ternary_call *call, const char *what,
                                      collet_ternary_weights **out, const collet_array *weights,
                                      const collet_ternary_quantize_params *params)
{
    collet_ternary_weights *made = NULL;
    collet_array *codes = NULL;
    float *exact = NULL;
    collet_status status = check_matrix(call, what, "weights", out, weights);
    if (status == COLLET_OK)
        status = check_floating(call, what, weights);
    if (status != COLLET_OK)
        return status;
    if (ternary_recognises(params))
        status = ternary_recognise_array(call, what, weights, &exact);
    if (status == COLLET_OK)
        status = weights_new(call, &made, collet_array_shape(weights)[1]);
    if (status == COLLET_OK)
        status =
            collet_array_create(call->context, &codes, COLLET_I8, 2, collet_array_shape(weights));
    if (status == COLLET_OK)
        status = make_codes(call, what, made, codes, weights, exact,
                            params ? params : &ternary_standard);
    if (status == COLLET_OK)
        status = pack(call, what, made, codes);
    free(exact);
    collet_array_destroy(codes);
    return finish(out, made, status);
}

static collet_status recognise(ternary_call *call, const char *what, collet_array **scale,
                               const collet_array *weights)
{
    float *found = NULL;
    collet_status status = COLLET_OK;
    *scale = NULL;
    if (!ternary_is_local(call->context, weights) || collet_array_ndim(weights) < 1)
        return collet_fail(&call->error, COLLET_INVALID,
                           "%s: weights belong to another runtime or have no axes", what);
    status = check_floating(call, what, weights);
    if (status == COLLET_OK)
        status = ternary_recognise_array(call, what, weights, &found);
    if (status == COLLET_OK && found)
        status = collet_array_from(call->context, scale, COLLET_F32, collet_array_ndim(weights) - 1,
                                   collet_array_shape(weights), found);
    free(found);
    return status;
}

/* ---- Packed bytes ---------------------------------------------------------------------------- */

/* The faults found in packed rows. */
typedef struct faults {
    int64_t invalid;  /* number of codes 11 */
    int64_t tail_row; /* the first row whose padding is not 0; -1: none */
    int tail;         /* a weight in that padding that is not 0: -1 or 1 */
} faults;

static int64_t count_invalid(const uint8_t *bytes, int64_t n)
{
    int64_t count = 0;
    for (int64_t i = 0; i < n; i += 8) {
        uint64_t word = 0;
        memcpy(&word, bytes + i, (size_t)min_i64(n - i, 8));
        word &= word >> 1 & 0x5555555555555555;
        if (word)
            count += __builtin_popcountll(word);
    }
    return count;
}

/* Checks the padding: the weights after the first `used` in the last block of a row. */
static void check_tail(const uint8_t *block, int64_t used, int64_t row, faults *found)
{
    for (int64_t i = used; i < 4 * BLOCK_BYTES && found->tail_row < 0; i++) {
        int weight = (block[i % BLOCK_BYTES] >> i / BLOCK_BYTES * 2 & 3) - 1;
        if (weight == -1 || weight == 1) {
            found->tail_row = row;
            found->tail = weight;
        }
    }
}

/* Reads and checks all rows: several rows, or a part of one long row, at a time. */
static collet_status find_faults(ternary_call *call, const collet_array *bytes, int64_t columns,
                                 faults *found)
{
    int64_t rows = collet_array_shape(bytes)[0], width = collet_array_shape(bytes)[1];
    int64_t piece = min_i64(width, CHUNK_BYTES), most = piece ? CHUNK_BYTES / piece : 0;
    int64_t used = columns - 4 * (width - BLOCK_BYTES);
    uint8_t *chunk = malloc(CHUNK_BYTES);
    collet_status status = COLLET_OK;
    if (!chunk)
        return collet_fail(&call->error, COLLET_NO_MEMORY, "out of memory for checking weights");
    for (int64_t row = 0, at = 0; width > 0 && row < rows && status == COLLET_OK;) {
        int64_t count = min_i64(rows - row, most), n = min_i64(width - at, piece);
        status = read_part(call->context, bytes, row, count, at, n, chunk);
        if (status == COLLET_OK) {
            found->invalid += count_invalid(chunk, count * n);
            at += n;
            for (int64_t r = 0; at == width && r < count; r++)
                check_tail(chunk + (r + 1) * n - BLOCK_BYTES, used, row + r, found);
            status = ternary_call_advance(call, 4 * count * n);
        }
        if (at == width) {
            row += count;
            at = 0;
        }
    }
    free(chunk);
    return status;
}

static collet_status check_bytes(ternary_call *call, const char *what, const collet_array *bytes,
                                 int64_t columns)
{
    int64_t needed = collet_ternary_bytes(COLLET_TERNARY_T2, columns);
    faults found = {.tail_row = -1};
    if (collet_array_shape(bytes)[1] != needed)
        return collet_fail(&call->error, COLLET_SHAPE,
                           "%s: rows have %" PRId64 " bytes, but %" PRId64 " columns take %" PRId64,
                           what, collet_array_shape(bytes)[1], columns, needed);
    collet_status status = find_faults(call, bytes, columns, &found);
    if (status == COLLET_OK && found.invalid > 0)
        status = collet_fail(&call->error, COLLET_INVALID,
                             "%s: %" PRId64 " codes are 11 (binary), which is not a weight", what,
                             found.invalid);
    else if (status == COLLET_OK && found.tail_row >= 0)
        status =
            collet_fail(&call->error, COLLET_INVALID,
                        "%s: row %" PRId64 " has the weight %d in the padding after its %" PRId64
                        " columns; padding must be 0",
                        what, found.tail_row, found.tail, columns);
    return status;
}

collet_status ternary_weights_from_bytes(ternary_call *call, const char *what,
                                         collet_ternary_weights **out, const collet_array *bytes,
                                         int64_t columns, const collet_array *scale)
{
    collet_ternary_weights *made = NULL;
    collet_status status = check_matrix(call, what, "bytes", out, bytes);
    if (status == COLLET_OK)
        status = check_dtype(call, what, "bytes", bytes, COLLET_U8);
    if (status == COLLET_OK)
        status = check_scale(call, what, scale, collet_array_shape(bytes)[0]);
    if (status == COLLET_OK)
        status = check_bytes(call, what, bytes, columns);
    if (status == COLLET_OK)
        status = weights_new(call, &made, columns);
    if (status == COLLET_OK)
        status = ternary_share(call->context, &made->bytes, bytes);
    if (status == COLLET_OK)
        status = copy_scale(call, &made->scale, scale);
    return finish(out, made, status);
}

/* ---- Public functions ------------------------------------------------------------------------ */

collet_status collet_ternary_weights_quantize(collet_context *context, collet_ternary_weights **out,
                                              const collet_array *weights,
                                              const collet_ternary_quantize_params *params,
                                              const collet_ternary_monitor *monitor,
                                              collet_error *err)
{
    COLLET_FLOATING_SCOPE;
    ternary_call call;
    if (!context)
        return collet_fail(err, COLLET_INVALID, "%s: the context is NULL", __func__);
    if (ternary_call_begin(&call, context, monitor) != COLLET_OK)
        return ternary_call_end(&call, COLLET_INVALID, err);
    if (weights)
        call.total = collet_array_size(weights);
    return ternary_call_end(&call, weights_quantize(&call, __func__, out, weights, params), err);
}

collet_status collet_ternary_recognise(collet_context *context, collet_array **scale,
                                       const collet_array *weights,
                                       const collet_ternary_monitor *monitor, collet_error *err)
{
    COLLET_FLOATING_SCOPE;
    ternary_call call;
    if (!context || !scale || !weights)
        return collet_fail(err, COLLET_INVALID, "%s: an argument is NULL", __func__);
    if (ternary_call_begin(&call, context, monitor) != COLLET_OK)
        return ternary_call_end(&call, COLLET_INVALID, err);
    call.total = collet_array_size(weights);
    return ternary_call_end(&call, recognise(&call, __func__, scale, weights), err);
}

collet_status collet_ternary_weights_from_codes(collet_context *context,
                                                collet_ternary_weights **out,
                                                const collet_array *codes,
                                                const collet_array *scale, collet_error *err)
{
    COLLET_FLOATING_SCOPE;
    ternary_call call;
    if (!context)
        return collet_fail(err, COLLET_INVALID, "%s: the context is NULL", __func__);
    ternary_call_begin(&call, context, NULL);
    return ternary_call_end(&call, weights_from_codes(&call, __func__, out, codes, scale), err);
}

collet_status collet_ternary_weights_from_bytes(collet_context *context,
                                                collet_ternary_weights **out,
                                                const collet_array *bytes, int64_t columns,
                                                const collet_array *scale,
                                                const collet_ternary_monitor *monitor,
                                                collet_error *err)
{
    COLLET_FLOATING_SCOPE;
    ternary_call call;
    if (!context)
        return collet_fail(err, COLLET_INVALID, "%s: the context is NULL", __func__);
    if (ternary_call_begin(&call, context, monitor) != COLLET_OK)
        return ternary_call_end(&call, COLLET_INVALID, err);
    if (bytes) /* a broadcast view may have more elements than fit into memory */
        call.total = 4 * min_i64(collet_array_size(bytes), INT64_MAX / 4);
    return ternary_call_end(
        &call, ternary_weights_from_bytes(&call, __func__, out, bytes, columns, scale), err);
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
