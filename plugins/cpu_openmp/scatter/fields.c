/* SPDX-License-Identifier: Apache-2.0 */
/* scatter_euler for calls in which voxels are adjacent along x.
 * Tests: conformance/scatter/fields.c */
#include "cpu_openmp/runtime/device.h"

#include "cpu_openmp/runtime/team.h"
#include "shared/host/scatter/numbers.h"
#include "shared/host/scatter/scatter.h"
#include "kernel_fields.h"
#include "rows.h"

#define GRAIN 512 /* voxels per thread, at least */

typedef struct job {
    const collet_kernel_call *call;
    const field_kernels *kernels;
    int adjacent;
} job;

static TEAM_BODY(run_rows)
{
    const job *j = argument;
    const collet_operand *out = operand_of(j->call, 0);
    for (int64_t row = begin; row < end; row++) {
        int64_t z = row / out->shape[2], y = row % out->shape[2];
        char *to[7];
        const char *from[4];
        for (int i = 0; i < 7; i++)
            to[i] =
                cpu_at(out) + i * cpu_step(out, 0) + z * cpu_step(out, 1) + y * cpu_step(out, 2);
        for (uint32_t i = 0; i < 4; i++) {
            const collet_operand *o = operand_of(j->call, 1 + i);
            from[i] = cpu_at(o) + z * cpu_step(o, 0) + y * cpu_step(o, 1);
        }
        if (!j->adjacent || !j->kernels->euler[is_wide(out)](to, from, out->shape[3]))
            cpu_scatter_euler(j->call, row, row + 1);
    }
}

KERNEL(scatter_euler)
{
    const collet_operand *out = operand_of(call, 0);
    int64_t size = is_wide(out) ? 8 : 4;
    job j = {call, device->level->fields, cpu_step(out, 3) == size};
    for (uint32_t i = 1; i < 5; i++)
        j.adjacent = j.adjacent && cpu_step(operand_of(call, i), 2) == size;
    team_run(device->threads, out->shape[1] * out->shape[2], rows_of(out, GRAIN), run_rows, &j);
    return COLLET_OK;
}
