/* SPDX-License-Identifier: Apache-2.0 */
/*
 * argmax.h - the first maximum of the elements that a walk visits (f32, or f64 when `wide`): its
 * index in the order of the walk; of the first NaN where there is one. At least one element.
 */
#ifndef COLLET_HOST_ARRAY_ARGMAX_H
#define COLLET_HOST_ARRAY_ARGMAX_H

#include <math.h>

#include "shared/host/util/rows.h"

static inline int64_t cpu_argmax(cpu_rows walk, char *at, int wide)
{
    double greatest = 0;
    int64_t index = 0, found = -1;
    walk.at[0] = at;
    for (cpu_rows_begin(&walk); walk.rows > 0; cpu_rows_next(&walk))
        for (int64_t i = 0; i < walk.length; i++, index++) {
            const char *p = walk.at[0] + i * walk.inner[0];
            double x =
                wide ? *(const double *)(const void *)p : (double)*(const float *)(const void *)p;
            if (x <= greatest && found >= 0)
                continue;
            greatest = x;
            found = index;
            if (isnan(x))
                return index;
        }
    return found;
}

#endif
