/* SPDX-License-Identifier: Apache-2.0 */
/* rows.h - the loop over the rows along an axis of two operands of one shape. */
#pragma once

#include "cpu_openmp/util/loop.h"
#include "shared/host/util/rows.h"

/* Makes `l` the loop over the first elements of the rows along `axis`; -1: over all elements. View 0 is
 * `out`, view 1 `in`. To save time, the other views of the loop are not initialised. */
static inline void index_rows(loop *l, const collet_operand *out, const collet_operand *in,
                              int32_t axis)
{
    l->views = 2;
    l->ndim = 1;
    l->count = l->shape[0] = 1;
    l->step[0][0] = l->step[1][0] = 0;
    l->at[0] = cpu_at(out);
    l->at[1] = cpu_at(in);
    for (int32_t i = 0; i < out->ndim; i++) {
        if (i == axis)
            continue;
        l->ndim += l->count > 1;
        l->shape[l->ndim - 1] = out->shape[i];
        l->step[0][l->ndim - 1] = cpu_step(out, i);
        l->step[1][l->ndim - 1] = cpu_step(in, i);
        l->count *= out->shape[i];
    }
}
