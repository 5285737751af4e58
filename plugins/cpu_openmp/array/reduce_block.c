/* SPDX-License-Identifier: Apache-2.0 */
/* What reduce.c does with one block of adjacent elements, without its plan, which takes longer than a small block.
 * Tests: conformance/array/reduce.c, tests/cpu_openmp/test_kernels_openmp.c */
#include "reduce.h"

#include "cpu_openmp/util/range.h"
#include "shared/host/util/rows.h"
#include "shared/host/util/sum.h"
#include "reduction.h"

int64_t reduce_block_length(const collet_kernel_call *call)
{
    const collet_reduce_params *params = call->params;
    const collet_operand *in = operand_of(call, 1);
    int64_t count = 1;
    if (call->n_out != 1 || cpu_dtype_is_complex(in->dtype))
        return 0;
    for (int32_t i = in->ndim - 1; i >= 0; i--) {
        if (!(params->axes >> i & 1) || (in->strides[i] != count && in->shape[i] != 1))
            return 0;
        count *= in->shape[i];
    }
    return count <= REDUCE_BLOCK ? count : 0;
}

void reduce_block(const collet_device *device, const collet_kernel_call *call, int64_t count)
{
    const collet_operand *out = operand_of(call, 0), *in = operand_of(call, 1);
    int64_t step = (int64_t)cpu_dtype_size(in->dtype);
    const char *at = cpu_at(in);
    method m, exact;
    double center, lost = 0.0, result = 0.0;
    method_choose(&m, device, reduce_has_center(call->op) ? COLLET_OP_MEAN : call->op, in->dtype,
                  count);
    if (reduce_has_center(call->op)) {
        method_run(&m, &m.about, &result, &lost, at, step, count);
        center = cpu_total(&(cpu_sum){result, lost}) / m.divisor;
        method_choose(&m, device, call->op, in->dtype, count);
        m.about.center = &center;
        m.divisor = reduce_divisor(call, count);
        lost = 0.0;
    }
    exact = m;
    int narrow = count >= REDUCE_NARROW && out->dtype != COLLET_F64 && method_narrow(&m, device);
    if (narrow)
        range_begin();
    result = m.first;
    method_run(&m, &m.about, &result, &lost, at, step, count);
    if (narrow && range_was_left()) {
        result = lost = 0.0;
        method_run(&exact, &m.about, &result, &lost, at, step, count);
    }
    method_store(&m, cpu_at(out), out->dtype, 0, &result, &lost, 1);
}
