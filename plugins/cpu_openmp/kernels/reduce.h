/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reduce.h - sums in f64 that carry their rounding errors along: good to about two ulp of the sum
 * of the magnitudes, however many terms. The index of a table is [f32, f64]; steps are in bytes, of
 * either sign.
 */
#ifndef COLLET_OPENMP_KERNELS_REDUCE_H
#define COLLET_OPENMP_KERNELS_REDUCE_H

#include <stdint.h>

typedef struct reduce_kernels {
    /* Adds n elements to *sum, and what rounding lost to *lost. */
    void (*run[2])(double *sum, double *lost, const char *in, int64_t step, int64_t n);
    /* Adds elements (i, j), i < rows, to sum[j] and lost[j], j < columns. */
    void (*columns[2])(double *sum, double *lost, const char *in, int64_t row_step,
                       int64_t column_step, int64_t rows, int64_t columns);
} reduce_kernels;

#endif
