/* SPDX-License-Identifier: Apache-2.0 */
/* The scatter family: threads share the rows of pixels or voxels.
 * Tests: conformance/scatter/fields.c, conformance/scatter/sphere.c */
#include "cpu_openmp/runtime/device.h"

#include "cpu_openmp/runtime/team.h"
#include "shared/host/util/operand.h"
#include "shared/host/scatter/scatter.h"
#include "rows.h"

#define GRAIN 256         /* pixels or voxels per thread, at least */
#define VECTOR_GRAIN 1024 /* for scatter_vector */

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
    int64_t grain = call->op == COLLET_OP_SCATTER_VECTOR ? VECTOR_GRAIN : GRAIN;
    team_run(device->threads, rows, rows_of(operand_of(call, 0), grain), run_rows, &j);
    return COLLET_OK;
}
