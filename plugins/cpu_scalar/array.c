/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels.h"

#include <math.h>
#include <string.h>

#include "../cpu/convert.h"
#include "../cpu/rows.h"

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
