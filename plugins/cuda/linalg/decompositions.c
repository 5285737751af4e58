/* SPDX-License-Identifier: Apache-2.0 */
#include "decompositions.h"

#include "exchange.h"

static const solver_op *op_of(const collet_kernel_call *call)
{
    static const solver_op *const ops[] = {&solver_cholesky, &solver_lu,   &solver_solve,
                                           &solver_qr,       &solver_eigh, &solver_svd};
    const solver_op *const *o = ops;
    while ((*o)->op != call->op)
        o++;
    return *o;
}

uint64_t cuda_decompose_workspace(collet_device *d, const collet_kernel_call *call)
{
    const solver_op *o = op_of(call);
    solver_job j;
    return solver_plan(&j, o, d, NULL, call) ? solver_scratch_bytes(&j) : o->own_workspace(d, call);
}

collet_status cuda_decompose(collet_device *d, collet_queue *q, const collet_kernel_call *call)
{
    const solver_op *o = op_of(call);
    solver_job j;
    collet_status status = COLLET_REFUSED;
    if (solver_plan(&j, o, d, q, call) && solver_scratch_bytes(&j) <= call->workspace_bytes) {
        o->run(&j);
        status = j.status;
    }
    if (status != COLLET_REFUSED || o->own_workspace(d, call) > call->workspace_bytes)
        return status;
    return o->own(d, q, call);
}
