/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/linalg/factors.c, conformance/linalg/spectra.c,
 * tests/host/test_decompositions.c */
#include "decompositions.h"

#include "matrices.h"
#include "table.h"

int64_t cpu_decomposition_count(const collet_kernel_call *call)
{
    return cpu_matrix_count(operand_of(call, call->n_out), 2);
}

static const cpu_decomposition *decomposition_of(const collet_kernel_call *call)
{
    collet_dtype dtype = operand_of(call, call->n_out)->dtype;
    return part_of(dtype) == dtype && call->op != COLLET_OP_EIG
               ? &cpu_real_decompositions[call->op]
               : &cpu_complex_decompositions[call->op];
}

uint64_t cpu_decomposition_scratch(const collet_kernel_call *call)
{
    return decomposition_of(call)->scratch(call);
}

int64_t cpu_decomposition_run(const collet_kernel_call *call, void *scratch, int64_t begin,
                              int64_t end)
{
    return decomposition_of(call)->run(call, scratch, begin, end);
}

void cpu_solve_info(const collet_kernel_call *call, int64_t singular)
{
    cpu_info_store(operand_of(call, 1), 0,
                   singular < cpu_decomposition_count(call) ? singular + 1 : 0);
}
