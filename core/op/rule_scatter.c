/* SPDX-License-Identifier: Apache-2.0 */
/* Shape rules of the scatter family.
 * Tests: tests/core/test_errors.c, tests/core/test_infer.c */
#include "rules.h"

#include <inttypes.h>

#include "shape.h"

collet_status op_rule_scatter_slices(const op *o, op_shapes *views, const void *params,
                                     collet_error *err)
{
    const collet_scatter_params *p = params;
    const int64_t *layers = views->operand[1].shape;
    int64_t x = views->operand[0].shape[3];
    if (p->layers && (int64_t)p->layer + layers[1] > (int64_t)p->layers)
        return collet_fail(err, COLLET_INVALID,
                           "%s: %" PRId64 " layers from layer %" PRIu32
                           " on are more than the %" PRIu32 " layers of the sample",
                           o->name, layers[1], p->layer, p->layers);
    if (layers[3] != (x > 0 ? x / 2 + 1 : 0))
        return op_shape_error(o, views, "the half spectrum of X pixels has H = X / 2 + 1 elements",
                              err);
    return COLLET_OK;
}

collet_status op_rule_scatter_images(const op *o, op_shapes *views, const void *params,
                                     collet_error *err)
{
    (void)params;
    if (!views->operand[8].shape && views->operand[0].shape[1] != 3)
        return op_shape_error(o, views, "without angles there are 3 images for each energy", err);
    return COLLET_OK;
}
