/* SPDX-License-Identifier: Apache-2.0 */
#include "device.h"

#include "shared/host/linalg/decompositions.h"

WORKSPACE(lu)
{
    return cpu_lu_scratch(call);
}

KERNEL(lu)
{
    cpu_lu(call, call->workspace, 0, cpu_decomposition_count(call));
    return COLLET_OK;
}

WORKSPACE(solve)
{
    return cpu_solve_scratch(call);
}

KERNEL(solve)
{
    int64_t count = cpu_decomposition_count(call);
    cpu_solve_info(call, cpu_solve(call, call->workspace, 0, count));
    return COLLET_OK;
}

WORKSPACE(qr)
{
    return cpu_qr_scratch(call);
}

KERNEL(qr)
{
    cpu_qr(call, call->workspace, 0, cpu_decomposition_count(call));
    return COLLET_OK;
}

WORKSPACE(svd)
{
    return cpu_svd_scratch(call);
}

KERNEL(svd)
{
    cpu_svd(call, call->workspace, 0, cpu_decomposition_count(call));
    return COLLET_OK;
}

WORKSPACE(eigh)
{
    return cpu_eigh_scratch(call);
}

KERNEL(eigh)
{
    cpu_eigh(call, call->workspace, 0, cpu_decomposition_count(call));
    return COLLET_OK;
}

WORKSPACE(cholesky)
{
    return cpu_cholesky_scratch(call);
}

KERNEL(cholesky)
{
    cpu_cholesky(call, call->workspace, 0, cpu_decomposition_count(call));
    return COLLET_OK;
}
