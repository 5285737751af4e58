/* SPDX-License-Identifier: Apache-2.0 */
#include "matrices.h"

#include <string.h>

int64_t device_batch_begin(device_batch *v, const collet_operand *o, int32_t axes)
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

void device_batch_operand(device_batch *v, uint32_t k, const collet_operand *o)
{
    int32_t axes = (int32_t)v->axes, own = o->ndim - axes;
    for (int32_t i = 0; i < axes; i++)
        v->stride[k][i] = o->strides[i];
    v->column[k] = own > 0 ? o->strides[o->ndim - 1] : 0;
    v->row[k] = own > 1 ? o->strides[o->ndim - 2] : 0;
}
