/* SPDX-License-Identifier: Apache-2.0 */
/* The checks of a call's parameters, dtypes and shapes. */
#pragma once

#include "shape.h"
#include "signature.h"

/* op_params for an op that has parameters. */
collet_status op_take_params(const op *o, const void *params, void *copy, const void **out,
                             collet_error *err);

/* Sets *out to the parameter block of a call: `params` itself or, if an older program passed a
 * shorter block, a copy in `copy` (OP_PARAMS_MAX bytes, aligned) that is filled up with zeros.
 * INVALID, also if reserved fields, or fields that only a newer version knows, are not 0. Inline like op_check,
 * because every call uses both. */
static inline collet_status op_params(const op *o, const void *params, void *copy, const void **out,
                                      collet_error *err)
{
    *out = NULL;
    return o->params_size ? op_take_params(o, params, copy, out, err) : COLLET_OK;
}

/* Returns DTYPE; the text says which dtypes the operands have, and which they must have. */
collet_status op_dtype_error(const op *o, const op_shapes *views, collet_error *err);

/* Returns DTYPE if a SCALAR of the parameters does not fit the dtype of output 0. */
collet_status op_check_scalars(const op *o, const op_shapes *views, const void *params,
                               collet_error *err);

/* Checks dtypes, shapes and parameters of a call; `sig` packs the views' dtypes. If a pattern has
 * "...", inputs get the broadcast axes, in `scratch`, which has one element for each operand.
 * DTYPE, SHAPE, INVALID, OVERFLOW; the text names the operands. */
static inline collet_status op_check(const op *o, uint64_t sig, op_shapes *views,
                                     const void *params, op_scratch *scratch, collet_error *err)
{
    collet_status status = COLLET_OK;
    if (!op_accepts(o, sig))
        return op_dtype_error(o, views, err);
    if (o->scalars)
        status = op_check_scalars(o, views, params, err);
    return status == COLLET_OK ? op_check_shapes(o, views, params, scratch, err) : status;
}
