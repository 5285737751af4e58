/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/ternary/ternary.c, conformance/ternary/products.c */
#include "device.h"

#include <math.h>
#include <string.h>

#include "shared/host/ternary/formats.h"
#include "shared/host/util/rows.h"
#include "shared/host/util/sum.h"

/* ---- Rows ------------------------------------------------------------------------------------ */

/* Adds a view of the first `heads` axes of an operand: its elements are the rows of the operand, or, for operands
 * without a last axis, one number per row. */
static void heads_view(cpu_rows *w, const collet_operand *o, int32_t heads)
{
    collet_operand head = *o;
    head.ndim = heads;
    cpu_rows_view(w, &head);
}

/* Iteration over the rows of the first `heads` axes. */
typedef struct row_walk {
    cpu_rows walk;
    int64_t in_row; /* index along the innermost of the `heads` axes */
} row_walk;

/* View 0 has the rows of `out`. View 1 has the rows of `in`, whose leading axes are the same. If `numbers` is
 * present, view 2 has one number per row. */
static void rows_begin(row_walk *r, const collet_operand *out, const collet_operand *in,
                       const collet_operand *numbers)
{
    heads_view(&r->walk, out, out->ndim - 1);
    heads_view(&r->walk, in, out->ndim - 1);
    if (numbers && operand_present(numbers))
        heads_view(&r->walk, numbers, out->ndim - 1);
    cpu_rows_begin(&r->walk);
    r->in_row = 0;
}

/* Whether the outputs are empty (the second one may be NULL or absent). Such calls return early, because their number
 * of rows may overflow. */
static int is_idle(const collet_operand *out, const collet_operand *numbers)
{
    return operand_is_empty(out) && (!numbers || operand_is_empty(numbers));
}

static int rows_left(const row_walk *r)
{
    return r->walk.rows > 0;
}

static char *row_at(const row_walk *r, int view)
{
    return r->walk.at[view] + r->in_row * r->walk.inner[view];
}

static void rows_next(row_walk *r)
{
    if (++r->in_row == r->walk.length) {
        r->in_row = 0;
        cpu_rows_next(&r->walk);
    }
}

static int64_t last_extent(const collet_operand *o)
{
    return o->shape[o->ndim - 1];
}

static collet_status set_info(const collet_kernel_call *call, uint32_t operand, int64_t count)
{
    int32_t info = count > INT32_MAX ? INT32_MAX : (int32_t)count;
    memcpy(cpu_at(operand_of(call, operand)), &info, sizeof info);
    return COLLET_OK;
}

/* ---- quantize -------------------------------------------------------------------------------- */

static double value_at(const char *at, collet_dtype dtype)
{
    double value;
    cpu_convert((char *)&value, COLLET_F64, sizeof value, at, dtype, 0, 1);
    return value;
}

static float mean_magnitude(const char *at, int64_t step, int64_t count, collet_dtype dtype)
{
    cpu_sum sum = {0};
    for (int64_t k = 0; k < count; k++)
        cpu_add(&sum, fabs(value_at(at + k * step, dtype)));
    return count ? (float)(cpu_total(&sum) / (double)count) : 0.0f;
}

static int64_t quantize_row(int8_t *codes, int64_t code_step, const char *at,
                            const collet_operand *in, double threshold)
{
    int64_t count = last_extent(in), step = cpu_last_step(in), nonfinite = 0;
    for (int64_t k = 0; k < count; k++) {
        double v = value_at(at + k * step, in->dtype);
        codes[k * code_step] = (int8_t)((v > threshold) - (v < -threshold));
        nonfinite += !isfinite(v);
    }
    return nonfinite;
}

KERNEL(ternary_quantize)
{
    const collet_ternary_quantize_params *params = call->params;
    const collet_operand *codes = operand_of(call, 0), *scales = operand_of(call, 1);
    const collet_operand *in = operand_of(call, 3);
    int with_scale = operand_present(scales);
    int64_t nonfinite = 0;
    row_walk r = {0};
    if (is_idle(codes, scales))
        return set_info(call, 2, 0);
    for (rows_begin(&r, codes, in, scales); rows_left(&r); rows_next(&r)) {
        const char *at = row_at(&r, 1);
        float scale = 1.0f, threshold = params->threshold;
        if (params->mode == COLLET_TERNARY_ABSMEAN) {
            scale = mean_magnitude(at, cpu_last_step(in), last_extent(in), in->dtype);
            threshold = scale / 2;
        }
        nonfinite +=
            quantize_row((int8_t *)row_at(&r, 0), cpu_last_step(codes), at, in, (double)threshold);
        if (with_scale)
            memcpy(row_at(&r, 2), &scale, sizeof scale);
    }
    return set_info(call, 2, nonfinite);
}

/* ---- pack, unpack ---------------------------------------------------------------------------- */

KERNEL(ternary_pack)
{
    const collet_ternary_format_params *params = call->params;
    const collet_operand *bytes = operand_of(call, 0), *codes = operand_of(call, 2);
    const collet_operand *scales = operand_of(call, 3);
    int with_scale = operand_present(scales);
    int64_t wrong = 0;
    row_walk r = {0};
    if (is_idle(bytes, NULL))
        return set_info(call, 1, 0);
    for (rows_begin(&r, bytes, codes, scales); rows_left(&r); rows_next(&r)) {
        float scale = 1.0f;
        if (with_scale)
            memcpy(&scale, row_at(&r, 2), sizeof scale);
        wrong += cpu_ternary_pack(params->format, (uint8_t *)row_at(&r, 0),
                                  (const int8_t *)row_at(&r, 1), cpu_last_step(codes),
                                  last_extent(codes), scale);
    }
    return set_info(call, 1, wrong);
}

KERNEL(ternary_unpack)
{
    const collet_ternary_format_params *params = call->params;
    const collet_operand *codes = operand_of(call, 0), *scales = operand_of(call, 1);
    const collet_operand *bytes = operand_of(call, 3);
    int with_scale = operand_present(scales);
    int64_t wrong = 0;
    row_walk r = {0};
    if (is_idle(codes, scales))
        return set_info(call, 2, 0);
    for (rows_begin(&r, codes, bytes, scales); rows_left(&r); rows_next(&r)) {
        const uint8_t *row = (const uint8_t *)row_at(&r, 1);
        wrong += cpu_ternary_unpack(params->format, (int8_t *)row_at(&r, 0), cpu_last_step(codes),
                                    last_extent(codes), row);
        for (int64_t k = 0; with_scale && k < last_extent(scales); k++) {
            float scale = cpu_ternary_block_scale(params->format, row, k);
            memcpy(row_at(&r, 2) + k * cpu_last_step(scales), &scale, sizeof scale);
        }
    }
    return set_info(call, 2, wrong);
}

/* ---- Products -------------------------------------------------------------------------------- */

/* Weight k of a row in t2. */
static int weight_at(const uint8_t *row, int64_t k)
{
    int64_t in = k % CPU_T2_WEIGHTS;
    return (row[k / CPU_T2_WEIGHTS * CPU_T2_BYTES + in % 64] >> (in / 64 * 2) & 3) - 1;
}

static int32_t dot_packed(const uint8_t *a, const uint8_t *b, int64_t bytes)
{
    int32_t sum = 0;
    for (int64_t k = 0; k < 4 * bytes; k++)
        sum += weight_at(a, k) * weight_at(b, k);
    return sum;
}

static int32_t dot_i8(const uint8_t *row, const int8_t *x, int64_t step, int64_t count)
{
    int32_t sum = 0;
    for (int64_t k = 0; k < count; k++)
        sum += weight_at(row, k) * x[k * step];
    return sum;
}

static float dot_f32(const uint8_t *row, const char *x, int64_t step, int64_t count)
{
    double sum = 0.0;
    for (int64_t k = 0; k < count; k++) {
        float v;
        memcpy(&v, x + k * step, sizeof v);
        sum += weight_at(row, k) * (double)v;
    }
    return (float)sum;
}

KERNEL(ternary_dot)
{
    const collet_operand *a = operand_of(call, 1), *b = operand_of(call, 2);
    int32_t sum =
        dot_packed((const uint8_t *)cpu_at(a), (const uint8_t *)cpu_at(b), last_extent(a));
    memcpy(cpu_at(operand_of(call, 0)), &sum, sizeof sum);
    return COLLET_OK;
}

static void multiply_row(const uint8_t *row, const char *x, const collet_operand *o, char *y)
{
    int64_t count = last_extent(o), step = cpu_last_step(o);
    int32_t sum;
    float real;
    switch (o->dtype) {
    case COLLET_U8:
        sum = dot_packed(row, (const uint8_t *)x, count);
        memcpy(y, &sum, sizeof sum);
        break;
    case COLLET_I8:
        sum = dot_i8(row, (const int8_t *)x, step, count);
        memcpy(y, &sum, sizeof sum);
        break;
    default:
        real = dot_f32(row, x, step, count);
        memcpy(y, &real, sizeof real);
    }
}

KERNEL(ternary_matmul)
{
    const collet_operand *y = operand_of(call, 0), *w = operand_of(call, 1);
    const collet_operand *x = operand_of(call, 2);
    row_walk r = {0};
    for (rows_begin(&r, y, x, NULL); rows_left(&r); rows_next(&r)) {
        for (int64_t m = 0; m < w->shape[0]; m++)
            multiply_row((const uint8_t *)cpu_at(w) + m * w->strides[0], row_at(&r, 1), x,
                         row_at(&r, 0) + m * cpu_last_step(y));
    }
    return COLLET_OK;
}

/* ---- linear ---------------------------------------------------------------------------------- */

/* max |x|, not finite if an x is not. */
static float largest(const char *x, int64_t step, int64_t count)
{
    float most = 0.0f;
    for (int64_t k = 0; k < count; k++) {
        float v;
        memcpy(&v, x + k * step, sizeof v);
        v = fabsf(v);
        if (!(v <= most))
            most = v;
        if (isnan(v))
            break;
    }
    return most;
}

/* Computes q and returns the scale of the token. The scale is NaN if all results are NaN. */
static float quantize_token(int8_t *q, const char *x, int64_t step, int64_t count,
                            const collet_ternary_linear_params *params)
{
    int ternary = params->activations == COLLET_TERNARY_TERNARY;
    float most = ternary ? 0.0f : largest(x, step, count), t = params->threshold;
    float greatest = params->activations == COLLET_TERNARY_INT4 ? 7.0f : 127.0f; /* of q */
    float r = most >= 0x1p-100f ? greatest / most : 0.0f;
    if (!isfinite(most))
        return NAN;
    for (int64_t k = 0; k < count; k++) {
        float v;
        memcpy(&v, x + k * step, sizeof v);
        q[k] = ternary ? (int8_t)((v > t) - (v < -t)) : (int8_t)rintf(v * r);
    }
    return ternary ? 1.0f : most >= 0x1p-100f ? most / greatest : 0.0f;
}

/* Number m of a vector of f32, which is present. */
static float number_at(const collet_operand *o, int64_t m)
{
    float v;
    memcpy(&v, cpu_at(o) + m * cpu_step(o, 0), sizeof v);
    return v;
}

static void finish_row(const collet_kernel_call *call, float sum, float s, int64_t m, char *y)
{
    const collet_ternary_linear_params *params = call->params;
    const collet_operand *scale = operand_of(call, 3), *bias = operand_of(call, 4);
    float result = sum * (operand_present(scale) ? s * number_at(scale, m) : s);
    if (operand_present(bias))
        result += number_at(bias, m);
    if (params->relu && result < 0)
        result = 0;
    memcpy(y, &result, sizeof result);
}

ACCEPTS(ternary_linear)
{
    *workspace_bytes = (uint64_t)last_extent(operand_of(call, 2));
    return COLLET_OK;
}

KERNEL(ternary_linear)
{
    const collet_ternary_linear_params *params = call->params;
    const collet_operand *y = operand_of(call, 0), *w = operand_of(call, 1);
    const collet_operand *x = operand_of(call, 2);
    int64_t count = last_extent(x), step = cpu_last_step(x);
    int real = params->activations == COLLET_TERNARY_F32;
    int8_t *q = call->workspace;
    row_walk r = {0};
    for (rows_begin(&r, y, x, NULL); rows_left(&r); rows_next(&r)) {
        const char *token = row_at(&r, 1);
        float s = real ? 1.0f : quantize_token(q, token, step, count, params);
        for (int64_t m = 0; m < w->shape[0]; m++) {
            const uint8_t *row = (const uint8_t *)cpu_at(w) + m * w->strides[0];
            float sum = real       ? dot_f32(row, token, step, count)
                        : isnan(s) ? NAN
                                   : (float)dot_i8(row, q, 1, count);
            finish_row(call, sum, s, m, row_at(&r, 0) + m * cpu_last_step(y));
        }
    }
    return COLLET_OK;
}
