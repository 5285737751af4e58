/* SPDX-License-Identifier: Apache-2.0 */
/* Shape rules of the scatter family.
 * Tests: tests/core/test_errors.c, tests/core/test_infer.c */
#include "rules.h"

#include <inttypes.h>
#include <math.h>

#include "shape.h"

/* INVALID if the call gives layers beyond the last layer of the sample. */
static collet_status check_layers(const op *o, const op_shapes *views, const collet_scatter_params *p,
                                  collet_error *err)
{
    int64_t given = views->operand[1].shape[1];
    return p->layers && (int64_t)p->layer + given > (int64_t)p->layers
               ? collet_fail(err, COLLET_INVALID,
                             "%s: %" PRId64 " layers from layer %" PRIu32
                             " on are more than the %" PRIu32 " layers of the sample",
                             o->name, given, p->layer, p->layers)
               : COLLET_OK;
}

static int64_t half_of(int64_t x)
{
    return x > 0 ? x / 2 + 1 : 0;
}

collet_status op_rule_scatter_slices(const op *o, op_shapes *views, const void *params,
                                     collet_error *err)
{
    collet_status status = check_layers(o, views, params, err);
    if (status == COLLET_OK && views->operand[1].shape[3] != half_of(views->operand[0].shape[3]))
        status = op_shape_error(o, views, "the half spectrum of X pixels has H = X / 2 + 1 elements",
                                err);
    return status;
}

collet_status op_rule_scatter_amplitudes(const op *o, op_shapes *views, const void *params,
                                         collet_error *err)
{
    const collet_scatter_params *p = params;
    int64_t x = views->operand[0].shape[3], stored = views->operand[1].shape[3];
    collet_status status = check_layers(o, views, p, err);
    if (status == COLLET_OK && stored != half_of(x) && stored != x)
        status = op_shape_error(o, views, "the spectra of X pixels have H = X / 2 + 1 elements, or X",
                                err);
    if (status == COLLET_OK && !isfinite(p->thickness))
        status = collet_fail(err, COLLET_INVALID, "%s: the thickness of a layer is %g", o->name,
                             p->thickness);
    return status;
}

static collet_status check_kinds(const op *o, op_shapes *views, uint32_t angles, collet_error *err)
{
    if (!views->operand[angles].shape && views->operand[0].shape[1] != 3)
        return op_shape_error(o, views, "without angles there are 3 images for each energy", err);
    return COLLET_OK;
}

collet_status op_rule_scatter_images(const op *o, op_shapes *views, const void *params,
                                     collet_error *err)
{
    (void)params;
    return check_kinds(o, views, 8, err);
}

collet_status op_rule_scatter_intensities(const op *o, op_shapes *views, const void *params,
                                          collet_error *err)
{
    const collet_scatter_params *p = params;
    if (!(p->limit >= 0.0))
        return collet_fail(err, COLLET_INVALID, "%s: the limit of |q_z| is %g; it must be 0 or more",
                           o->name, p->limit);
    return check_kinds(o, views, 8, err);
}
