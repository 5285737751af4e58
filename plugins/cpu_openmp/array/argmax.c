/* SPDX-License-Identifier: Apache-2.0 */
/* argmax: threads share the elements of the output. */
#include "cpu_openmp/runtime/device.h"

#include "cpu_openmp/runtime/team.h"
#include "shared/host/array/argmax.h"

#define GRAIN (32 << 10) /* elements below which a second thread does not pay */

typedef struct job {
    cpu_rows reduced;
    int32_t ndim; /* kept axes */
    int64_t shape[COLLET_MAX_DIMS], in_step[COLLET_MAX_DIMS], out_step[COLLET_MAX_DIMS];
    char *in, *out;
    int64_t kept, each; /* elements of the output, and of the input for each */
    int wide;
} job;

static void split_axes(job *j, const collet_kernel_call *call)
{
    const collet_reduce_params *params = call->params;
    const collet_operand *out = cpu_operand(call, 0), *in = cpu_operand(call, 1);
    j->kept = j->each = 1;
    j->reduced.views = 1;
    for (int32_t i = 0; i < in->ndim; i++) {
        if (params->axes >> i & 1) {
            j->reduced.shape[j->reduced.ndim] = in->shape[i];
            j->reduced.step[0][j->reduced.ndim++] = cpu_step(in, i);
            j->each *= in->shape[i];
        } else {
            j->shape[j->ndim] = in->shape[i];
            j->in_step[j->ndim] = cpu_step(in, i);
            j->out_step[j->ndim] = cpu_step(out, params->keepdims ? i : j->ndim);
            j->ndim++;
            j->kept *= in->shape[i];
        }
    }
}

static void run(void *argument, int32_t thread, int64_t begin, int64_t end)
{
    const job *j = argument;
    (void)thread;
    for (int64_t item = begin; item < end; item++) {
        char *in = j->in, *out = j->out;
        int64_t rest = item;
        for (int32_t i = j->ndim - 1; i >= 0; i--) {
            in += rest % j->shape[i] * j->in_step[i];
            out += rest % j->shape[i] * j->out_step[i];
            rest /= j->shape[i];
        }
        *(int64_t *)(void *)out = cpu_argmax(j->reduced, in, j->wide);
    }
}

KERNEL(argmax)
{
    const collet_operand *in = cpu_operand(call, 1);
    job j = {
        .in = cpu_at(in), .out = cpu_at(cpu_operand(call, 0)), .wide = in->dtype == COLLET_F64};
    split_axes(&j, call);
    team_run(device->threads, j.kept, 1 + GRAIN / (j.each > 0 ? j.each : 1), run, &j);
    return COLLET_OK;
}
