/* SPDX-License-Identifier: Apache-2.0 */
/* The scatter family: threads share the rows of pixels or voxels.
 * Tests: conformance/scatter/fields.c, conformance/scatter/sphere.c */
#include "cpu_openmp/runtime/device.h"

#include "cpu_openmp/runtime/team.h"
#include "shared/host/scatter/scatter.h"

typedef struct job {
    const collet_kernel_call *call;
    cpu_scatter_rows run;
} job;

static TEAM_BODY(run_rows)
{
    const job *j = argument;
    j->run(j->call, begin, end);
}

KERNEL(scatter)
{
    int64_t rows;
    job j = {call, cpu_scatter(call, &rows)};
    team_run(device->threads, rows, 1, run_rows, &j);
    return COLLET_OK;
}
