/* SPDX-License-Identifier: Apache-2.0 */
#include "reduce.h"

#include "level.h"

/* Terms added as a tree, whose few roundings do no harm, before their sum is added with its error.
 */
#define TREE 8

/* D. E. Knuth's exact sum of two numbers (TAOCP 2, 4.2.2), which needs no comparison. */
INLINE void add(double *sum, double *lost, double x)
{
    double before = *sum, after = before + x;
    double part = after - before;
    *lost += (before - (after - part)) + (x - part);
    *sum = after;
}

#define REAL float
#define NAME(x) x##_f32
#include "reduce.inc"

#define REAL double
#define NAME(x) x##_f64
#include "reduce.inc"

extern const reduce_kernels LEVEL_NAME(reduce);
const reduce_kernels LEVEL_NAME(reduce) = {
    .run = {run_f32, run_f64},
    .columns = {columns_f32, columns_f64},
};
