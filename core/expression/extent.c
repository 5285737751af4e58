/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_expression.c, tests/core/test_expression_rows.c */
#include "extent.h"

#include <string.h>

#include "op/program.h"
#include "steps.h"
#include "util/text.h"

collet_status extent_add_input(extent *x, const graph *g, uint32_t i, int32_t ndim,
                               const int64_t *shape, collet_error *err)
{
    text_buffer t;
    if (steps_broadcast(x->shape, &x->ndim, shape, ndim))
        return COLLET_OK;
    text_clear(&t);
    text_add_shape(&t, ndim, shape);
    return collet_fail(err, COLLET_SHAPE,
                       "expression: input %u%s%s is %s, which does not broadcast with the inputs "
                       "before it",
                       i, *g->names[i] ? ", " : "", g->names[i], t.bytes);
}

/* Sets the outputs' shape. */
collet_status extent_reduce(extent *x, const graph *g, collet_error *err)
{
    x->axes = !g->reduce || g->axis_count >= 0 ? 0 : (1u << x->ndim) - 1;
    for (int32_t i = 0; g->reduce && i < g->axis_count; i++) {
        int32_t axis = g->axes[i] < 0 ? g->axes[i] + x->ndim : g->axes[i];
        if (axis < 0 || axis >= x->ndim)
            return collet_fail(err, COLLET_INVALID,
                               "expression: axis %d is out of range: the inputs have %d axes",
                               g->axes[i], x->ndim);
        if (x->axes >> axis & 1)
            return collet_fail(err, COLLET_INVALID, "expression: axis %d is named twice",
                               g->axes[i]);
        x->axes |= 1u << axis;
    }
    x->out_ndim = 0;
    for (int32_t i = 0; i < x->ndim; i++) {
        int reduced = (int)(x->axes >> i & 1);
        if (!reduced || g->keepdims)
            x->out[x->out_ndim++] = reduced ? 1 : x->shape[i];
    }
    return COLLET_OK;
}

/* Checks that there are rows that the steps of a plan can reduce. */
collet_status extent_check_rows(const extent *x, const plan *p, collet_error *err)
{
    int64_t rows = 1;
    if (p->reductions && !x->ndim)
        return collet_fail(err, COLLET_SHAPE,
                           "expression: it reduces the last axis, and its inputs have no axes");
    for (int32_t i = 0; i < x->ndim - 1; i++)
        rows *= x->shape[i] != 0;
    for (uint32_t k = 0; p->reductions && rows && !x->shape[x->ndim - 1] && k < p->step_count; k++)
        if (program_reduces_some(p->steps[k].op))
            return collet_fail(err, COLLET_SHAPE,
                               "expression: %s of rows needs at least one element, and the inputs' "
                               "last axis is 0",
                               program_reduction_name(p->steps[k].op));
    return COLLET_OK;
}

/* The shape of output k. */
void extent_of_output(const extent *x, const plan *p, uint32_t k, int32_t *ndim, int64_t *shape)
{
    *ndim = x->out_ndim;
    memcpy(shape, x->out, sizeof x->out);
    if (p->out_narrow >> k & 1)
        shape[*ndim - 1] = 1;
}
