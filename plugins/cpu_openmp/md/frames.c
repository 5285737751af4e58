/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/md/axes.c, conformance/md/vectors.c */
#include "cpu_openmp/runtime/device.h"

#include <stdatomic.h>

#include "cpu_openmp/runtime/team.h"
#include "cpu_openmp/util/loop.h"
#include "shared/host/md/frames.h"
#include "shared/host/md/operands.h"

/* Minimum number of rows per thread: an eigenproblem takes about a microsecond, other rows less. */
#define GRAIN_EIGEN 16
#define GRAIN 256

typedef void (*frames_fn)(const collet_kernel_call *call, int64_t begin, int64_t end);

typedef struct frames_job {
    const collet_kernel_call *call;
    frames_fn run;
    _Atomic int64_t equal_times;
} frames_job;

static TEAM_BODY(run_rows)
{
    const frames_job *job = argument;
    job->run(job->call, begin, end);
}

static collet_status share_rows(const collet_device *device, const collet_kernel_call *call,
                                int64_t rows, int64_t grain, frames_fn run)
{
    frames_job job = {.call = call, .run = run};
    team_run(device->threads, rows, grain, run_rows, &job);
    return COLLET_OK;
}

KERNEL(principal_axes)
{
    int64_t frames = operand_of(call, 0)->shape[0], bodies = md_bodies(operand_of(call, 0), 1);
    (void)share_rows(device, call, frames * bodies, GRAIN_EIGEN, cpu_md_eigen);
    return share_rows(device, call, bodies, GRAIN / (frames + 1) + 1, cpu_md_align);
}

/* Ops whose frames do not depend on each other. */
KERNEL(frames)
{
    static const struct {
        int64_t grain;
        frames_fn run;
    } ops[] = {[COLLET_OP_EULER_ZYZ] = {GRAIN, cpu_md_euler_zyz},
               [COLLET_OP_TILT] = {GRAIN, cpu_md_tilt},
               [COLLET_OP_ANGULAR_VELOCITY] = {GRAIN_EIGEN, cpu_md_angular_velocity},
               [COLLET_OP_DECOMPOSE] = {GRAIN, cpu_md_decompose}};
    return share_rows(device, call, operand_of(call, 0)->shape[0], ops[call->op].grain,
                      ops[call->op].run);
}

static TEAM_BODY(differentiate)
{
    frames_job *job = argument;
    int64_t found = cpu_md_time_derivative(job->call, begin, end);
    int64_t first = atomic_load(&job->equal_times);
    while (found < first && !atomic_compare_exchange_weak(&job->equal_times, &first, found)) {
    }
}

KERNEL(time_derivative)
{
    const collet_operand *out = operand_of(call, 0);
    frames_job job = {.call = call, .equal_times = out->shape[0]};
    team_run(device->threads, out->shape[0] * md_bodies(out, 1), GRAIN, differentiate, &job);
    cpu_md_time_derivative_info(call, atomic_load(&job.equal_times));
    return COLLET_OK;
}

/* ---- magnitude ------------------------------------------------------------------------------- */

typedef struct norms {
    loop l; /* the output and the input's first components */
    collet_dtype dtype;
    int64_t step, length; /* step and number of the components */
} norms;

static void norm_row(const void *context, char *const *at, const int64_t *step, int64_t n)
{
    const norms *m = context;
    for (int64_t i = 0; i < n; i++) {
        *(double *)(void *)(at[0] + i * step[0]) =
            cpu_norm(at[1] + i * step[1], m->dtype, m->step, m->length);
    }
}

static TEAM_BODY(norm_part)
{
    const norms *m = argument;
    loop_run(&m->l, begin, end, norm_row, m);
}

KERNEL(magnitude)
{
    const collet_operand *in = operand_of(call, 1);
    int32_t last = in->ndim - 1;
    norms m = {.dtype = in->dtype, .step = cpu_step(in, last), .length = in->shape[last]};
    loop_init(&m.l, call, 2, NULL);
    team_run(device->threads, m.l.count, GRAIN / (1 + m.length / 64) + 1, norm_part, &m);
    return COLLET_OK;
}
