/* SPDX-License-Identifier: Apache-2.0 */
/* place.h - the location of an operand, as a parameter of the md kernels. */
#pragma once

#include "shared/jit/runtime/launch.h"
#include "shared/jit/runtime/types.h"

#include "common_params.h"

/* The index of an operand's first element in its buffer; 0 if the operand is absent. */
static inline int64_t md_first(const collet_operand *o)
{
    return operand_present(o) ? (int64_t)(o->byte_offset / cpu_dtype_size(o->dtype)) : 0;
}

/* The location of an operand whose last `axes` axes belong to a body in a frame (0: a number, 1: a vector, 2: rows of
 * vectors). The axes of frames and bodies are optional. All zeros if the operand is absent. */
static inline md_place md_place_of(const collet_operand *o, int32_t axes)
{
    md_place p = {0, 0, 0, 0, 0};
    if (!o || !operand_present(o))
        return p;
    p.first = md_first(o);
    p.frame = o->ndim > axes ? o->strides[0] : 0;
    p.body = o->ndim > axes + 1 ? o->strides[1] : 0;
    p.row = axes > 1 ? o->strides[o->ndim - 2] : 0;
    p.step = axes > 0 ? o->strides[o->ndim - 1] : 0;
    return p;
}

/* The number of bodies in a frame, from the shape of an operand whose last `axes` axes belong to a body. */
static inline int64_t md_bodies(const collet_operand *o, int32_t axes)
{
    return o->ndim > axes + 1 ? o->shape[1] : 1;
}

/* The location of an operand whose rows are single numbers, such as masses. */
static inline md_place md_place_of_column(const collet_operand *o)
{
    md_place p = md_place_of(o, 1);
    p.row = p.step;
    p.step = 0;
    return p;
}

/* Passes the buffer of an operand, or a null pointer if the op does not have the operand or it is absent. */
static inline void md_pass(jit_launch *l, const collet_operand *o)
{
    jit_pass_buffer(l, o && operand_present(o) ? o->buffer : NULL);
}
