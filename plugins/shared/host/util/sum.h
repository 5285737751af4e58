/* SPDX-License-Identifier: Apache-2.0 */
/* sum.h - compensated sums of doubles (A. Neumaier, Z. angew. Math. Mech. 54, 39, 1974): the error
 * is about one ulp of the sum of the magnitudes, for any number of terms. Infinities and NaN
 * propagate as in a plain sum. */
#pragma once

#include <math.h>

/* Zero-initialise. */
typedef struct cpu_sum {
    double sum;
    double lost;
} cpu_sum;

static inline void cpu_add(cpu_sum *s, double x)
{
    double total = s->sum + x;
    s->lost += fabs(s->sum) >= fabs(x) ? (s->sum - total) + x : (x - total) + s->sum;
    s->sum = total;
}

static inline double cpu_total(const cpu_sum *s)
{
    return isfinite(s->sum) ? s->sum + s->lost : s->sum;
}
