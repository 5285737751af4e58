/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/linalg/factors.c, conformance/linalg/spectra.c,
 * tests/host/test_decompositions.c */
#include "device.h"

#include "shared/host/linalg/decompositions.h"

static const struct decomposition {
    uint64_t (*scratch)(const collet_kernel_call *call);
    void (*run)(const collet_kernel_call *call, void *scratch, int64_t begin, int64_t end);
} decompositions[] = {
    [COLLET_OP_LU] = {cpu_lu_scratch, cpu_lu},
    [COLLET_OP_SOLVE] = {cpu_solve_scratch, NULL},
    [COLLET_OP_QR] = {cpu_qr_scratch, cpu_qr},
    [COLLET_OP_SVD] = {cpu_svd_scratch, cpu_svd},
    [COLLET_OP_EIGH] = {cpu_eigh_scratch, cpu_eigh},
    [COLLET_OP_CHOLESKY] = {cpu_cholesky_scratch, cpu_cholesky},
};

ACCEPTS(decompose)
{
    *workspace_bytes = decompositions[call->op].scratch(call);
    return COLLET_OK;
}

KERNEL(decompose)
{
    decompositions[call->op].run(call, call->workspace, 0, cpu_decomposition_count(call));
    return COLLET_OK;
}

KERNEL(solve)
{
    int64_t count = cpu_decomposition_count(call);
    cpu_solve_info(call, cpu_solve(call, call->workspace, 0, count));
    return COLLET_OK;
}
