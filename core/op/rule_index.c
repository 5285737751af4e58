/* SPDX-License-Identifier: Apache-2.0 */
/* Shape rules of the index family.
 * Tests: tests/core/test_infer.c, tests/core/test_errors.c */
#include "rules.h"

#include <inttypes.h>

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
