/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/md/axes.c, conformance/md/vectors.c */
#include "device.h"

#include "shared/host/md/frames.h"
#include "shared/host/md/operands.h"

KERNEL(principal_axes)
{
    int64_t bodies = md_bodies(operand_of(call, 0), 1);
    cpu_md_eigen(call, 0, operand_of(call, 0)->shape[0] * bodies);
    cpu_md_align(call, 0, bodies);
    return COLLET_OK;
}

/* Ops whose frames do not depend on each other. */
KERNEL(frames)
{
    static void (*const run[])(const collet_kernel_call *call, int64_t begin, int64_t end) = {
        [COLLET_OP_EULER_ZYZ] = cpu_md_euler_zyz,
        [COLLET_OP_TILT] = cpu_md_tilt,
        [COLLET_OP_ANGULAR_VELOCITY] = cpu_md_angular_velocity,
        [COLLET_OP_DECOMPOSE] = cpu_md_decompose};
    run[call->op](call, 0, operand_of(call, 0)->shape[0]);
    return COLLET_OK;
}

KERNEL(magnitude)
{
    const collet_operand *out = operand_of(call, 0), *in = operand_of(call, 1);
    int32_t last = in->ndim - 1;
    cpu_rows walk = {0};
    cpu_rows_view(&walk, out);
    cpu_rows_view(&walk, in);
    for (cpu_rows_begin(&walk); walk.rows > 0; cpu_rows_next(&walk)) {
        for (int64_t i = 0; i < walk.length; i++) {
            *(double *)(void *)(walk.at[0] + i * walk.inner[0]) = cpu_norm(
                walk.at[1] + i * walk.inner[1], in->dtype, cpu_step(in, last), in->shape[last]);
        }
    }
    return COLLET_OK;
}

KERNEL(time_derivative)
{
    const collet_operand *out = operand_of(call, 0);
    int64_t rows = out->shape[0] * md_bodies(out, 1);
    cpu_md_time_derivative_info(call, cpu_md_time_derivative(call, 0, rows));
    return COLLET_OK;
}
