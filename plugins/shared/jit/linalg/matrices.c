/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/linalg/factors.c, conformance/linalg/linalg.c */
#include "matrices.h"

#include <string.h>

int64_t jit_batch_begin(jit_batch *v, const collet_operand *o, int32_t axes)
{
    int64_t count = 1;
    memset(v, 0, sizeof *v);
    v->axes = axes;
    for (int32_t i = 0; i < axes; i++) {
        v->extent[i] = o->shape[i];
        count *= o->shape[i];
    }
    return count;
}

void jit_batch_operand(jit_batch *v, uint32_t k, const collet_operand *o)
{
    int32_t axes = (int32_t)v->axes, own = o->ndim - axes;
    for (int32_t i = 0; i < axes; i++)
        v->stride[k][i] = o->strides[i];
    v->column[k] = own > 0 ? o->strides[o->ndim - 1] : 0;
    v->row[k] = own > 1 ? o->strides[o->ndim - 2] : 0;
}

/* Whether operand k has a single stride along all axes of the batch; sets *step to it. */
static int single_step(const jit_batch *v, uint32_t k, int64_t *step)
{
    int64_t expected = -1;
    *step = 0;
    for (int64_t axis = v->axes - 1; axis >= 0; axis--) {
        int64_t stride = v->stride[k][axis];
        if (v->extent[axis] == 1)
            continue;
        if (stride < 0 || (expected >= 0 && stride != expected))
            return 0;
        if (expected < 0)
            *step = stride;
        expected = stride * v->extent[axis];
    }
    return 1;
}

int jit_batch_layout(jit_layout *l, const jit_batch *v, uint32_t k, int64_t rows, int64_t columns)
{
    int64_t row = v->row[k], column = v->column[k];
    l->transposed = 0;
    if ((column == 1 || columns == 1) && (row >= columns || rows == 1)) {
        l->leading = rows == 1 ? columns : row;
    } else if ((row == 1 || rows == 1) && (column >= rows || columns == 1)) {
        l->transposed = 1;
        l->leading = columns == 1 ? rows : column;
    } else {
        return 0;
    }
    return single_step(v, k, &l->step);
}
