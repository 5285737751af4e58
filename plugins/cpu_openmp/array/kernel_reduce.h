/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_reduce.h - reductions: sum, minimum and maximum.
 *
 * Sums are compensated sums in f64: good to about two ulp of the sum of the
 * magnitudes, however many terms. min and max follow IEEE 754-2019: NaN propagates,
 * -0 < +0. The index of a table is [f32, f64]; steps are in bytes, of either sign.
 */
#ifndef PLUGINS_CPU_OPENMP_ARRAY_KERNEL_REDUCE_H
#define PLUGINS_CPU_OPENMP_ARRAY_KERNEL_REDUCE_H

#include <stdint.h>

/*
 * `result` is the sum, minimum or maximum so far; `lost` is the accumulated rounding error of a
 * sum, and unused by the others.
 */
typedef struct reduction {
    /* Combines n elements with *result and *lost. */
    void (*run[2])(double *result, double *lost, const char *in, int64_t step, int64_t n);
    /* Combines elements (i, j), i < rows, with result[j] and lost[j], j < columns. */
    void (*columns[2])(double *result, double *lost, const char *in, int64_t row_step,
                       int64_t column_step, int64_t rows, int64_t columns);
} reduction;

typedef struct reduce_kernels {
    reduction sum, min, max;
} reduce_kernels;

#endif
