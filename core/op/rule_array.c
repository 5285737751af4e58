/* SPDX-License-Identifier: Apache-2.0 */
/* Shape rules of the array family.
 * Tests: tests/core/test_errors.c, tests/core/test_infer.c */
#include "rules.h"

#include "shape.h"

collet_status op_rule_transpose(const op *o, op_shapes *views, const void *params,
                                collet_error *err)
{
    const collet_transpose_params *p = params;
    const struct op_view *in = &views->operand[1];
    int64_t shape[COLLET_MAX_DIMS];
    uint32_t seen = 0;
    if (p->ndim != (uint32_t)in->ndim)
        return op_shape_error(o, views, "the permutation must have as many axes as the input", err);
    for (int32_t i = 0; i < in->ndim; i++) {
        int32_t axis = p->perm[i];
        if (axis < 0 || axis >= in->ndim || seen >> axis & 1)
            return collet_fail(err, COLLET_INVALID,
                               "transpose: perm[%d] = %d is out of range or repeated; perm must "
                               "contain 0..%d once each",
                               i, axis, in->ndim - 1);
        seen |= 1u << axis;
        shape[i] = in->shape[axis];
    }
    return op_expect(o, views, 0, in->ndim, shape,
                     "output axis i must have the extent of input axis perm[i]", err);
}

/* Reads only the fields that collet_variance_params has, too. */
collet_status op_rule_reduce(const op *o, op_shapes *views, const void *params, collet_error *err)
{
    const collet_reduce_params *p = params;
    const struct op_view *in = &views->operand[1];
    char name[OP_OPERAND_TEXT];
    int64_t shape[COLLET_MAX_DIMS];
    int32_t ndim = 0;
    if (p->axes >> in->ndim)
        return collet_fail(err, COLLET_INVALID,
                           "%s: axes is 0x%x, which names an axis beyond the %d axes of %s",
                           o->name, p->axes, in->ndim, op_operand_name(o, 1, name));
    for (int32_t i = 0; i < in->ndim; i++) {
        int reduced = (int)(p->axes >> i & 1);
        if (!reduced || p->keepdims)
            shape[ndim++] = reduced ? 1 : in->shape[i];
    }
    return op_expect(o, views, 0, ndim, shape,
                     "the output has the input's axes without the reduced ones (with keepdims they "
                     "have length 1)",
                     err);
}

/* A minimum or maximum needs an element to choose. */
collet_status op_rule_reduce_some(const op *o, op_shapes *views, const void *params,
                                  collet_error *err)
{
    const collet_reduce_params *p = params;
    const struct op_view *in = &views->operand[1];
    int empty = 0, has_output = 1;
    collet_status status = op_rule_reduce(o, views, params, err);
    if (status != COLLET_OK)
        return status;
    for (int32_t i = 0; i < in->ndim; i++) {
        if (p->axes >> i & 1)
            empty |= in->shape[i] == 0;
        else
            has_output &= in->shape[i] != 0;
    }
    return empty && has_output
               ? op_shape_error(o, views, "it needs at least one element to choose from", err)
               : COLLET_OK;
}
