/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/scatter/fields.c, conformance/scatter/sphere.c, conformance/scatter/amplitudes.c */
#include "shared/jit/runtime/launch.h"
#include "shared/jit/runtime/rows.h"

#include <stdlib.h>

#include "shared/jit/language/formulas.h"
#include "shared/jit/texts.h"
#include "shared/jit/runtime/types.h"

#include "scatter_params.h"

static const jit_source fields_source =
    JIT_SOURCE("scatter_fields", jit_text_scatter_scatter_params, JIT_FUNCTIONS, JIT_COMPLEX_TEXTS,
               jit_text_scatter_items, jit_text_scatter_fields);
static const jit_source pattern_source =
    JIT_SOURCE("scatter_pattern", jit_text_scatter_scatter_params, JIT_FUNCTIONS, JIT_COMPLEX_TEXTS,
               jit_text_scatter_items, jit_text_scatter_spectrum, jit_text_scatter_pattern);
static const jit_source amplitudes_source =
    JIT_SOURCE("scatter_amplitudes", jit_text_scatter_scatter_params, JIT_FUNCTIONS,
               JIT_COMPLEX_TEXTS, jit_text_scatter_items, jit_text_scatter_spectrum,
               jit_text_scatter_amplitudes);
static const jit_source average_source =
    JIT_SOURCE("scatter_average", jit_text_scatter_scatter_params, JIT_FUNCTIONS,
               jit_text_scatter_items, jit_text_scatter_average);

/* The kernel of an op. `along` is the operand whose order in memory the items follow. `axes` names each operand's axes:
 * 0, 1 and 2 are the axes of the items, a and b are other axes. */
typedef struct scatter_op {
    const jit_source *source;
    const char *kernel;
    uint32_t along;
    const char *axes[SCATTER_OPERANDS];
} scatter_op;

static const scatter_op ops[] = {
    {&fields_source, "euler", 0, {"a012", "012", "012", "012", "012"}},
    {&fields_source, "vector", 0, {"a012", "012a", "012"}},
    {&fields_source, "polarisation", 1, {"a012", "ab012", "ab", "a", "ab"}},
    {&pattern_source, "ewald", 0, {"012", "012", "0a", "2", "1", "a"}},
    {&pattern_source, "projection", 0, {"12", "ab12", "12", "12", "a", "2", "1", "a"}},
    {&pattern_source, "slices", 0, {"ab12", "ab12", "a12", "ab12"}},
    {&pattern_source, "images", 0, {"0a12", "ab12", "a12", "0ab", "0a", "2", "1", "a", "a"}},
    {&average_source, "average", 1, {"012", "0a12", "a", "ab"}},
    {&amplitudes_source, "amplitudes", 0, {"ab12", "ab12", "ab", "a12", "ab12"}},
    {&amplitudes_source, "intensities", 0, {"0a12", "ab12", "ab", "a12", "0ab", "0a", "2", "1", "a"}},
};

static scatter_place place_of(const collet_operand *o, const char *axes)
{
    scatter_place p = {0};
    if (!operand_present(o))
        return p;
    p.first = (int64_t)(o->byte_offset / cpu_dtype_size(o->dtype));
    for (int i = 0; axes[i]; i++) {
        if (axes[i] < 'a') {
            p.step[axes[i] - '0'] = o->strides[i];
        } else {
            p.inner[axes[i] - 'a'] = o->strides[i];
            p.count[axes[i] - 'a'] = o->shape[i];
        }
    }
    return p;
}

/* Numbers the items so that adjacent items are adjacent along the operand's axis with the smallest stride. */
static void set_items(scatter_job *job, const collet_operand *o, const char *axes, int64_t step[3])
{
    int64_t reach[3];
    for (int a = 0; a < 3; a++)
        job->extent[a] = 1;
    for (int i = 0; axes[i]; i++)
        if (axes[i] < 'a')
            job->extent[axes[i] - '0'] = o->shape[i];
    job->items = job->extent[0] * job->extent[1] * job->extent[2];
    for (int a = 0; a < 3; a++)
        reach[a] = job->extent[a] > 1 ? llabs(step[a]) : INT64_MAX;
    for (int a = 0; a < 3; a++) {
        for (int b = 0; b < 3; b++)
            job->rank[a] += b < a ? reach[b] <= reach[a] : b > a && reach[b] < reach[a];
        if (job->rank[a] < 2)
            job->nested[job->rank[a]] = job->extent[a];
    }
}

static void set_params(scatter_job *job, const collet_kernel_call *call)
{
    if (call->op == COLLET_OP_SCATTER_AVERAGE) {
        const collet_scatter_average_params *params = call->params;
        job->mask = params->mask != 0;
        job->aspect = params->aspect == 0.0 ? 1.0 : params->aspect;
        for (int i = 0; i < 2; i++)
            job->centre[i] = params->centre ? (double)(job->extent[1 + i] / 2)
                                            : (double)job->extent[1 + i] / 2;
    } else if (call->op > COLLET_OP_SCATTER_POLARISATION) {
        const collet_scatter_params *params = call->params;
        job->nearest = params->nearest != 0;
        job->neighbours = params->neighbours != 0;
        job->thickness = params->thickness;
        job->limit = params->limit == 0.0 ? -1.0 : params->limit;
        job->layer = params->layer;
        job->layers =
            params->layers ? params->layers : params->layer + operand_of(call, 1)->shape[1];
    }
}

JIT_KERNEL(scatter)
{
    const scatter_op *op = &ops[call->op - COLLET_OP_SCATTER_EULER];
    /* Operand 1 has the type of the results: it is `fraction`, or the first input. */
    const collet_operand *second = operand_of(call, 1);
    int wide = second->dtype == COLLET_F64 || second->dtype == COLLET_C128;
    scatter_job job = {0};
    jit_launch l;
    jit_launch_begin(&l, op->source,
                     wide ? "-DPART=f64 -DCOMPLEX=c128" : "-DPART=f32 -DCOMPLEX=c64", op->kernel);
    for (uint32_t i = 0; i < SCATTER_OPERANDS && op->axes[i]; i++) {
        const collet_operand *o = operand_of(call, i);
        job.at[i] = place_of(o, op->axes[i]);
        jit_pass_buffer(&l, operand_present(o) ? o->buffer : NULL);
    }
    set_items(&job, operand_of(call, op->along), op->axes[op->along], job.at[op->along].step);
    job.halved = second->ndim == 4 && second->shape[3] != job.extent[2];
    set_params(&job, call);
    jit_pass_block(&l, &job, sizeof job);
    return jit_enqueue(device, queue, &l, jit_groups(jit_traits_of(device), (uint64_t)job.items),
                       call->err);
}
