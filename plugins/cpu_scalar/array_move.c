/* SPDX-License-Identifier: Apache-2.0 */
/* array: ops that move elements.
 * Tests: conformance/array/axes.c */
#include "device.h"

#include "shared/host/util/convert.h"
#include "shared/host/util/rows.h"

KERNEL(fill)
{
    const collet_fill_params *params = call->params;
    const collet_operand *out = operand_of(call, 0);
    collet_dtype from = params->value.dtype;
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
    const collet_operand *out = operand_of(call, 0), *in = operand_of(call, 1);
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
    const collet_operand *out = operand_of(call, 0), *in = operand_of(call, 1);
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
