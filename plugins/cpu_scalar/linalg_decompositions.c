/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/linalg/factors.c, conformance/linalg/spectra.c,
 * tests/host/test_decompositions.c */
#include "device.h"

#include "shared/host/linalg/decompositions.h"

ACCEPTS(decompose)
{
    *workspace_bytes = cpu_decomposition_scratch(call);
    return COLLET_OK;
}

KERNEL(decompose)
{
    (void)cpu_decomposition_run(call, call->workspace, 0, cpu_decomposition_count(call));
    return COLLET_OK;
}

KERNEL(solve)
{
    int64_t count = cpu_decomposition_count(call);
    cpu_solve_info(call, cpu_decomposition_run(call, call->workspace, 0, count));
    return COLLET_OK;
}
