/* SPDX-License-Identifier: Apache-2.0 */
/* Shape rules of the index family.
 * Tests: tests/core/test_infer.c, tests/core/test_errors.c */
#include "rules.h"

#include <inttypes.h>
#include <math.h>

#include "shape.h"

static collet_status check_axis(const op *o, const struct op_view *in, int32_t axis,
                                collet_error *err)
{
    if (axis >= -in->ndim && axis < in->ndim)
        return COLLET_OK;
    return collet_fail(err, COLLET_INVALID, "%s: axis %d is out of range: the array has %d axes",
                       o->name, axis, in->ndim);
}

collet_status op_rule_sort(const op *o, op_shapes *views, const void *params, collet_error *err)
{
    const collet_sort_params *p = params;
    const struct op_view *in = &views->operand[1];
    collet_status status = check_axis(o, in, p->axis, err);
    return status == COLLET_OK
               ? op_expect(o, views, 0, in->ndim, in->shape, "the shapes must be the same", err)
               : status;
}

collet_status op_rule_partition(const op *o, op_shapes *views, const void *params,
                                collet_error *err)
{
    const collet_partition_params *p = params;
    const struct op_view *in = &views->operand[1];
    collet_status status = check_axis(o, in, p->axis, err);
    if (status != COLLET_OK)
        return status;
    int64_t extent = in->shape[p->axis < 0 ? p->axis + in->ndim : p->axis];
    if (extent && (p->kth < -extent || p->kth >= extent))
        return collet_fail(err, COLLET_INVALID,
                           "%s: kth is %" PRId64 ", but axis %d has %" PRId64 " elements", o->name,
                           p->kth, p->axis, extent);
    return op_expect(o, views, 0, in->ndim, in->shape, "the shapes must be the same", err);
}

/* Inferred outputs have room for every element. */
collet_status op_rule_compress(const op *o, op_shapes *views, const void *params, collet_error *err)
{
    int64_t *open = op_open(views, 0);
    (void)o;
    (void)params;
    (void)err;
    if (open && views->operand[0].ndim > 0)
        open[views->operand[0].ndim - 1] = views->operand[3].shape[0];
    return COLLET_OK;
}

collet_status op_rule_nonzero(const op *o, op_shapes *views, const void *params, collet_error *err)
{
    const struct op_view *in = &views->operand[2], *out = &views->operand[0];
    int64_t shape[2] = {in->ndim, 1};
    (void)params;
    for (int32_t i = 0; i < in->ndim; i++)
        shape[1] *= in->shape[i];
    if (!op_open(views, 0) && out->ndim == 2)
        shape[1] = out->shape[1];
    collet_status status = op_expect(o, views, 1, 0, shape, "the count has no axes", err);
    return status == COLLET_OK
               ? op_expect(o, views, 0, 2, shape, "the output has a row for each axis of a", err)
               : status;
}

collet_status op_rule_histogram(const op *o, op_shapes *views, const void *params,
                                collet_error *err)
{
    const collet_histogram_params *p = params;
    int64_t *open = op_open(views, 0);
    if (!(p->high - p->low >= 0.0 && p->high - p->low < (double)INFINITY))
        return collet_fail(err, COLLET_INVALID,
                           "%s: low is %g and high is %g; they and high - low must be finite, and "
                           "low not greater",
                           o->name, p->low, p->high);
    if (open)
        open[0] = p->bins;
    return COLLET_OK;
}
