/* SPDX-License-Identifier: Apache-2.0 */
/* Defects of otherwise correct ternary kernels. */
#include "broken.h"

#include <math.h>
#include <string.h>

#include "shared/host/ternary/formats.h"

static int64_t last_extent(const collet_operand *o)
{
    return o->shape[o->ndim - 1];
}

/* The number of rows along the last axis; 0 without elements. */
static int64_t rows_of(const collet_operand *o)
{
    int64_t count = broken_count(o);
    return count ? count / last_extent(o) : 0;
}

static int is_there(const collet_operand *o)
{
    return o->dtype != COLLET_DTYPE_NONE && o->buffer;
}

static int i8_at(const collet_operand *o, int64_t i)
{
    return *(const int8_t *)broken_element(o, i);
}

static void set_i32(const collet_operand *o, int64_t i, int64_t value)
{
    int32_t narrow = (int32_t)value;
    memcpy(broken_element(o, i), &narrow, sizeof narrow);
}

/* Weight k of a t2 row. */
static int weight_at(const uint8_t *row, int64_t k)
{
    int64_t in = k % CPU_T2_WEIGHTS;
    return (row[k / CPU_T2_WEIGHTS * CPU_T2_BYTES + in % 64] >> (in / 64 * 2) & 3) - 1;
}

/* ---- Codes and bytes ------------------------------------------------------------------------- */

BROKEN_KERNEL(takes_the_threshold_in)
{
    (void)device, (void)queue;
    const collet_ternary_quantize_params *params = call->params;
    const collet_operand *codes = &call->operands[0], *scales = &call->operands[1];
    const collet_operand *in = &call->operands[3];
    int64_t count = last_extent(in),
            rows = is_there(scales) ? broken_count(scales) : rows_of(codes);
    int64_t strange = 0;
    for (int64_t r = 0; r < rows; r++) {
        double mean = 0, t = (double)params->threshold;
        for (int64_t k = 0; k < count; k++)
            mean += fabs(broken_get(in, r * count + k)) / (double)count;
        if (params->mode == COLLET_TERNARY_ABSMEAN)
            t = (double)((float)mean / 2);
        if (is_there(scales))
            broken_set(scales, r, params->mode == COLLET_TERNARY_ABSMEAN ? mean : 1);
        for (int64_t k = 0; k < count; k++) {
            double v = broken_get(in, r * count + k);
            int8_t code = v >= t ? 1 : v < -t ? -1 : 0;
            memcpy(broken_element(codes, r * count + k), &code, 1);
            strange += !isfinite(v);
        }
    }
    set_i32(&call->operands[2], 0, strange);
    return COLLET_OK;
}

BROKEN_KERNEL(sees_no_code_but_three)
{
    (void)device, (void)queue;
    const collet_ternary_format_params *params = call->params;
    const collet_operand *bytes = &call->operands[0], *codes = &call->operands[2];
    const collet_operand *scales = &call->operands[3];
    int64_t wrong = 0, count = last_extent(codes), step = codes->strides[codes->ndim - 1];
    for (int64_t r = 0; r < rows_of(bytes); r++) {
        const int8_t *row = count ? broken_element(codes, r * count) : NULL;
        float scale = is_there(scales) ? (float)broken_get(scales, r) : 1;
        cpu_ternary_pack(params->format, broken_element(bytes, r * last_extent(bytes)), row, step,
                         count, scale);
        for (int64_t k = 0; k < count; k++)
            wrong += row[k * step] == 3;
    }
    set_i32(&call->operands[1], 0, wrong);
    return COLLET_OK;
}

BROKEN_KERNEL(keeps_invalid_codes)
{
    (void)device, (void)queue;
    const collet_ternary_format_params *params = call->params;
    const collet_operand *codes = &call->operands[0], *scales = &call->operands[1];
    const collet_operand *bytes = &call->operands[3];
    int64_t wrong = 0, count = last_extent(codes), step = codes->strides[codes->ndim - 1];
    for (int64_t r = 0; r < rows_of(codes); r++) {
        const uint8_t *row = broken_element(bytes, r * last_extent(bytes));
        int8_t *out = broken_element(codes, r * count);
        wrong += cpu_ternary_unpack(params->format, out, step, count, row);
        for (int64_t k = 0; params->format == COLLET_TERNARY_T2 && k < count; k++)
            out[k * step] = (int8_t)weight_at(row, k);
    }
    for (int64_t i = 0; is_there(scales) && i < broken_count(scales); i++) {
        int64_t blocks = last_extent(scales);
        const uint8_t *row = broken_element(bytes, i / blocks * last_extent(bytes));
        broken_set(scales, i, (double)cpu_ternary_block_scale(params->format, row, i % blocks));
    }
    set_i32(&call->operands[2], 0, wrong);
    return COLLET_OK;
}

/* ---- Products -------------------------------------------------------------------------------- */

/* Like 8-bit accumulators in vectors of 32 lanes. */
BROKEN_KERNEL(adds_in_8_bits)
{
    (void)device, (void)queue;
    const collet_operand *a = &call->operands[1], *b = &call->operands[2];
    int64_t bytes = last_extent(a), sum = 0;
    int8_t lanes[32] = {0};
    for (int64_t k = 0; bytes && k < 4 * bytes; k++)
        lanes[k % 32] = (int8_t)(lanes[k % 32] + weight_at(broken_element(a, 0), k) *
                                                     weight_at(broken_element(b, 0), k));
    for (int i = 0; i < 32; i++)
        sum += lanes[i];
    set_i32(&call->operands[0], 0, sum);
    return COLLET_OK;
}

BROKEN_KERNEL(adds_in_16_bits)
{
    (void)device, (void)queue;
    const collet_operand *y = &call->operands[0], *w = &call->operands[1], *x = &call->operands[2];
    int64_t bytes = last_extent(w), rows = w->shape[0];
    for (int64_t i = 0; i < broken_count(y); i++) {
        int16_t sum = 0;
        if (bytes) {
            const uint8_t *weights = broken_element(w, i % rows * bytes);
            const uint8_t *token = broken_element(x, i / rows * bytes);
            for (int64_t k = 0; k < 4 * bytes; k++)
                sum = (int16_t)(sum + weight_at(weights, k) * weight_at(token, k));
        }
        set_i32(y, i, sum);
    }
    return COLLET_OK;
}

BROKEN_KERNEL(takes_minus_128_for_127)
{
    (void)device, (void)queue;
    const collet_operand *y = &call->operands[0], *w = &call->operands[1], *x = &call->operands[2];
    int64_t bytes = last_extent(w), rows = w->shape[0], count = last_extent(x);
    for (int64_t i = 0; i < broken_count(y); i++) {
        int64_t sum = 0;
        for (int64_t k = 0; k < count; k++) {
            int a = i8_at(x, i / rows * count + k);
            sum += weight_at(broken_element(w, i % rows * bytes), k) * (a == -128 ? -127 : a);
        }
        set_i32(y, i, sum);
    }
    return COLLET_OK;
}

/* Element m of an optional vector, `otherwise` if absent. */
static float number_at(const collet_operand *o, int64_t m, float otherwise)
{
    return is_there(o) ? (float)broken_get(o, m) : otherwise;
}

static float token_sum(const collet_ternary_linear_params *params, const uint8_t *row,
                       const collet_operand *x, int64_t first, float *scale)
{
    float most = 0, r = 0, t = params->threshold;
    int64_t count = last_extent(x), whole = 0;
    double sum = 0;
    for (int64_t k = 0; k < count; k++) {
        float v = fabsf((float)broken_get(x, first + k));
        most = !(v <= most) && !isnan(most) ? v : most;
    }
    if (most >= 0x1p-100f)
        r = 127 / most;
    for (int64_t k = 0; k < count; k++) {
        float v = (float)broken_get(x, first + k);
        int w = weight_at(row, k);
        if (params->activations == COLLET_TERNARY_F32)
            sum += w * (double)v;
        else if (params->activations == COLLET_TERNARY_TERNARY)
            whole += w * ((v > t) - (v < -t));
        else if (isfinite(most))
            whole += w * (int)rintf(v * r);
    }
    *scale = 1;
    if (params->activations == COLLET_TERNARY_F32)
        return (float)sum;
    if (params->activations == COLLET_TERNARY_INT8)
        *scale = !isfinite(most) ? NAN : r > 0 ? most / 127 : 0;
    return (float)whole;
}

BROKEN_KERNEL(rectifies_nan)
{
    (void)device, (void)queue;
    const collet_ternary_linear_params *params = call->params;
    const collet_operand *y = &call->operands[0], *w = &call->operands[1], *x = &call->operands[2];
    int64_t rows = w->shape[0];
    for (int64_t i = 0; i < broken_count(y); i++) {
        float s = 1, result = 0;
        const uint8_t *row = last_extent(w) ? broken_element(w, i % rows * last_extent(w)) : NULL;
        float sum = token_sum(params, row, x, i / rows * last_extent(x), &s);
        result = sum * (s * number_at(&call->operands[3], i % rows, 1));
        if (is_there(&call->operands[4]))
            result += number_at(&call->operands[4], i % rows, 0);
        broken_set(y, i, (double)(params->relu && (result < 0 || isnan(result)) ? 0 : result));
    }
    return COLLET_OK;
}
