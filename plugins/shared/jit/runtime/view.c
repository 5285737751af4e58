/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/array/array.c */
#include "view.h"

#include <string.h>

_Static_assert(VIEW_DIMS == COLLET_MAX_DIMS, "a view holds any operand");

uint64_t jit_view_of(jit_view *v, const jit_traits *t, const collet_kernel_call *call,
                     uint32_t count)
{
    const collet_operand *shape = operand_of(call, 0);
    int32_t last = shape->ndim - 1;
    memset(v, 0, sizeof *v);
    v->rows = 1;
    v->outer = last > 0 ? last : 0;
    v->columns = last >= 0 ? shape->shape[last] : 1;
    for (int32_t axis = 0; axis < v->outer; axis++) {
        v->extent[axis] = shape->shape[axis];
        v->rows *= shape->shape[axis];
    }
    for (uint32_t k = 0; k < count; k++) {
        const collet_operand *o = operand_of(call, k);
        if (!operand_present(o))
            continue;
        v->operand[k].step = last >= 0 ? o->strides[last] : 0;
        for (int32_t axis = 0; axis < v->outer; axis++)
            v->operand[k].stride[axis] = o->strides[axis];
    }
    /* The columns of a group: the smallest power of two that covers a row, so that short rows leave few items idle. */
    while (1u << v->column_bits < t->group && (int64_t)1 << v->column_bits < v->columns)
        v->column_bits++;
    uint64_t tall = t->group >> v->column_bits;
    v->across = (int64_t)jit_ceiling((uint64_t)v->columns, 1u << v->column_bits);
    return jit_ceiling((uint64_t)v->rows, tall) * (uint64_t)v->across;
}

void jit_pass_view(jit_launch *l, const jit_view *v, uint32_t operands)
{
    jit_pass_block(l, v, jit_view_bytes(operands));
}
