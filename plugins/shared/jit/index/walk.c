/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/index/pick.c */
#include "index.h"
#include "shared/jit/array/array.h"

#include <string.h>

/* Whether the walk's last axis and `axis`, the next one, can be merged: the strides of all operands allow it. */
static int adjoins(const index_walk *w, const jit_axis *axis, uint32_t operands)
{
    for (uint32_t k = 0; k < operands; k++)
        if (w->stride[k][w->axes - 1] != axis->stride[k] * axis->extent)
            return 0;
    return 1;
}

void index_walk_of(index_walk *w, jit_axis *axes, int32_t count, uint32_t operands, int sorted)
{
    memset(w, 0, sizeof *w);
    w->count = 1;
    for (int32_t i = 0; i < count; i++)
        w->count *= axes[i].extent;
    if (sorted)
        count = jit_axes_merge(axes, count, operands - 1, 0);
    for (int32_t i = 0; i < count; i++) {
        if (axes[i].extent == 1)
            continue;
        int64_t outer = 1;
        if (w->axes > 0 && adjoins(w, &axes[i], operands))
            outer = w->extent[--w->axes];
        w->extent[w->axes] = axes[i].extent * outer;
        for (uint32_t k = 0; k < operands; k++)
            w->stride[k][w->axes] = axes[i].stride[k];
        w->axes++;
    }
}

void index_walk_over(index_walk *w, const collet_operand *o)
{
    jit_axis axes[COLLET_MAX_DIMS];
    for (int32_t i = 0; i < o->ndim; i++)
        axes[i] = (jit_axis){o->shape[i], {o->strides[i]}};
    index_walk_of(w, axes, o->ndim, 1, 0);
}

void index_copy(jit_sequence *s, const collet_operand *out, const collet_operand *a)
{
    const collet_operand operands[] = {*out, *a};
    collet_kernel_call copy = *s->call;
    copy.operands = operands;
    copy.operand_size = sizeof *operands;
    copy.n_out = copy.n_in = 1;
    if (s->status != COLLET_OK || index_in_place(out, a))
        return;
    s->status = jit_copy(s->device, s->queue, &copy);
    if (s->launched)
        s->status = jit_after_first(s->status);
    s->launched = 1;
}
