/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels.h"

#include <math.h>
#include <string.h>

#include "../cpu/convert.h"
#include "../cpu/rows.h"
#include "../cpu/sum.h"

#define NAME(x) f32_##x
#define REAL float
#include "array.inc"

#define NAME(x) f64_##x
#define REAL double
#include "array.inc"

typedef void (*row_fn)(char *const *at, const int64_t *step, int64_t n);

/* Runs one row kernel over all operands, which have the output's shape. */
static collet_status elementwise(const collet_kernel_call *call, row_fn f32, row_fn f64)
{
    cpu_rows walk = {0};
    for (uint32_t i = 0; i < call->n_out + call->n_in; i++)
        cpu_rows_view(&walk, cpu_operand(call, i));
    row_fn row = cpu_operand(call, 0)->dtype == COLLET_F32 ? f32 : f64;
    for (cpu_rows_begin(&walk); walk.rows > 0; cpu_rows_next(&walk))
        row(walk.at, walk.inner, walk.length);
    return COLLET_OK;
}

KERNEL(add)
{
    return elementwise(call, f32_add, f64_add);
}

KERNEL(sub)
{
    return elementwise(call, f32_sub, f64_sub);
}

KERNEL(mul)
{
    return elementwise(call, f32_mul, f64_mul);
}

KERNEL(div)
{
    return elementwise(call, f32_div, f64_div);
}

KERNEL(exp)
{
    return elementwise(call, f32_exp, f64_exp);
}

KERNEL(log)
{
    return elementwise(call, f32_log, f64_log);
}

KERNEL(sqrt)
{
    return elementwise(call, f32_sqrt, f64_sqrt);
}

KERNEL(fill)
{
    const collet_fill_params *params = call->params;
    const collet_operand *out = cpu_operand(call, 0);
    collet_dtype from = params->value.dtype;
    if (cpu_dtype_is_complex(from) && !cpu_dtype_is_complex(out->dtype)) {
        return device->host->fail(call->err, COLLET_REFUSED,
                                  "fill: a complex value cannot be stored in a real array; give "
                                  "its real part");
    }
    _Alignas(16) char element[16];
    uint64_t size = cpu_dtype_size(out->dtype);
    cpu_convert(element, out->dtype, 0, (const char *)params->value.value.bytes, from, 0, 1);
    cpu_rows walk = {0};
    cpu_rows_view(&walk, out);
    for (cpu_rows_begin(&walk); walk.rows > 0; cpu_rows_next(&walk))
        cpu_move(walk.at[0], walk.inner[0], element, 0, size, walk.length);
    return COLLET_OK;
}

KERNEL(copy)
{
    const collet_operand *out = cpu_operand(call, 0), *in = cpu_operand(call, 1);
    cpu_rows walk = {0};
    cpu_rows_view(&walk, out);
    cpu_rows_view(&walk, in);
    for (cpu_rows_begin(&walk); walk.rows > 0; cpu_rows_next(&walk)) {
        cpu_convert(walk.at[0], out->dtype, walk.inner[0], walk.at[1], in->dtype, walk.inner[1],
                    walk.length);
    }
    return COLLET_OK;
}

KERNEL(transpose)
{
    const collet_transpose_params *params = call->params;
    const collet_operand *out = cpu_operand(call, 0), *in = cpu_operand(call, 1);
    uint64_t size = cpu_dtype_size(out->dtype);
    cpu_rows walk = {0};
    cpu_rows_view(&walk, out);
    cpu_rows_view(&walk, in);
    for (int32_t i = 0; i < out->ndim; i++)
        walk.step[1][i] = cpu_step(in, params->perm[i]);
    for (cpu_rows_begin(&walk); walk.rows > 0; cpu_rows_next(&walk))
        cpu_move(walk.at[0], walk.inner[0], walk.at[1], walk.inner[1], size, walk.length);
    return COLLET_OK;
}

/* Sum over what `reduced` walks, starting at `at`. */
static double sum_of(cpu_rows reduced, char *at, collet_dtype dtype)
{
    cpu_sum total = {0};
    reduced.at[0] = at;
    for (cpu_rows_begin(&reduced); reduced.rows > 0; cpu_rows_next(&reduced)) {
        if (dtype == COLLET_F32)
            f32_sum(&total, reduced.at[0], reduced.inner[0], reduced.length);
        else
            f64_sum(&total, reduced.at[0], reduced.inner[0], reduced.length);
    }
    return cpu_total(&total);
}

/* Splits the input's axes: `kept` walks input and output, `reduced` the input alone. */
static void split_axes(const collet_kernel_call *call, cpu_rows *kept, cpu_rows *reduced)
{
    const collet_reduce_params *params = call->params;
    const collet_operand *out = cpu_operand(call, 0), *in = cpu_operand(call, 1);
    kept->views = 2;
    kept->at[0] = cpu_at(in);
    kept->at[1] = cpu_at(out);
    reduced->views = 1;
    for (int32_t i = 0; i < in->ndim; i++) {
        if (params->axes >> i & 1) {
            reduced->shape[reduced->ndim] = in->shape[i];
            reduced->step[0][reduced->ndim++] = cpu_step(in, i);
        } else {
            kept->shape[kept->ndim] = in->shape[i];
            kept->step[0][kept->ndim] = cpu_step(in, i);
            kept->step[1][kept->ndim] = cpu_step(out, params->keepdims ? i : kept->ndim);
            kept->ndim++;
        }
    }
}

KERNEL(sum)
{
    collet_dtype to = cpu_operand(call, 0)->dtype, from = cpu_operand(call, 1)->dtype;
    cpu_rows kept = {0}, reduced = {0};
    split_axes(call, &kept, &reduced);
    for (cpu_rows_begin(&kept); kept.rows > 0; cpu_rows_next(&kept)) {
        for (int64_t i = 0; i < kept.length; i++) {
            double total = sum_of(reduced, kept.at[0] + i * kept.inner[0], from);
            cpu_convert(kept.at[1] + i * kept.inner[1], to, 0, (const char *)&total, COLLET_F64, 0,
                        1);
        }
    }
    return COLLET_OK;
}
