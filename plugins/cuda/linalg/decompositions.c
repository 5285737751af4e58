/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/cuda/test_cuda_solver.c */
#include "exchange.h"

/* All decompositions use cuSOLVER if it is installed and chosen (by default if the matrices are large, or small and
 * many), else the kernels of plugins/shared/jit. */
jit_run cuda_decompose;
jit_accepts cuda_decompose_accepts;

static const solver_op *op_of(const collet_kernel_call *call)
{
    static const solver_op *const ops[] = {&solver_cholesky, &solver_lu,   &solver_solve,
                                           &solver_qr,       &solver_eigh, &solver_svd};
    const solver_op *const *o = ops;
    while ((*o)->op != call->op)
        o++;
    return *o;
}

collet_status cuda_decompose_accepts(collet_device *d, const collet_kernel_call *call,
                                     uint64_t *workspace_bytes)
{
    const solver_op *o = op_of(call);
    solver_job j;
    collet_status status = o->own_accepts(d, call, workspace_bytes);
    if (!solver_plan(&j, o, d, NULL, call))
        return status;
    /* cuSOLVER may run out of its own memory when the call runs, so the workspace must suffice for both
     * implementations. */
    uint64_t bytes = solver_scratch_bytes(&j);
    if (bytes > *workspace_bytes)
        *workspace_bytes = bytes;
    return COLLET_OK;
}

collet_status cuda_decompose(collet_device *d, collet_queue *q, const collet_kernel_call *call)
{
    const solver_op *o = op_of(call);
    solver_job j;
    collet_status status = COLLET_REFUSED;
    uint64_t own = 0;
    if (solver_plan(&j, o, d, q, call) && solver_scratch_bytes(&j) <= call->workspace_bytes) {
        o->run(&j);
        status = j.status;
    }
    if (status != COLLET_REFUSED)
        return status;
    status = o->own_accepts(d, call, &own);
    if (status != COLLET_OK || own > call->workspace_bytes)
        return COLLET_REFUSED;
    return o->own(d, q, call);
}

void cuda_explain_decomposition(collet_device *d, const collet_kernel_call *call, text *out)
{
    solver_job j;
    int ready = solver_plan(&j, op_of(call), d, NULL, call);
    cuda_explain_choice(out, d, &cuda_solver_facts, &d->solver.library, &j.choice, j.possible,
                        ready);
}
