/* SPDX-License-Identifier: Apache-2.0 */
/* The scatter family: the shape rule. */
#include <inttypes.h>

#include "op/op.h"

collet_status op_rule_scatter_amplitude(const op *o, op_shapes *views, const void *params,
                                        collet_error *err)
{
    const collet_scatter_params *p = params;
    int64_t x = views->operand[0].shape[3], h = views->operand[1].shape[3];
    if (p->offset > 1)
        return collet_fail(err, COLLET_INVALID, "%s: offset is %" PRIu32 ", not 0 or 1", o->name,
                           p->offset);
    if (h != (x > 0 ? x / 2 + 1 : 0))
        return op_shape_error(o, views, "the half spectrum of X pixels has H = X / 2 + 1 elements",
                              err);
    return COLLET_OK;
}
