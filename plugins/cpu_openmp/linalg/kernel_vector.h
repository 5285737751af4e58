/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_vector.h - compensated sums of products in f64, as in kernel_reduce.h. The error is at most about
 * four ulp of the sum of the magnitudes, for any number of terms. The index of a table is [f32, f64],
 * the type of both factors; steps are in bytes, of either sign or zero.
 */
#pragma once

#include <stdint.h>

#define VECTOR_SHORT 16 /* terms that need no compensation */
#define VECTOR_ROWS 4

typedef struct vector_kernels {
    /* Adds n products to *sum, and their rounding errors to *lost. */
    void (*dot[2])(double *sum, double *lost, const char *a, int64_t a_step, const char *b,
                   int64_t b_step, int64_t n);
    /* Adds a(i, j) x(j), j < columns, to sum[i] and lost[i], i < rows. The function is fastest with VECTOR_ROWS
     * rows. */
    void (*rows[2])(double *sum, double *lost, const char *a, int64_t row_step, int64_t column_step,
                    const char *x, int64_t x_step, int64_t rows, int64_t columns);
    /* Adds a(i, j) x(i), i < rows, to sum[j] and lost[j], j < columns. */
    void (*columns[2])(double *sum, double *lost, const char *a, int64_t row_step,
                       int64_t column_step, const char *x, int64_t x_step, int64_t rows,
                       int64_t columns);
    /* sum[j] = sum of a(i, j) x(i), i < rows <= VECTOR_SHORT, j < columns. */
    void (*short_columns[2])(double *sum, const char *a, int64_t row_step, int64_t column_step,
                             const char *x, int64_t x_step, int64_t rows, int64_t columns);
    /* For adjacent f32 elements and results that are stored as f32. Groups of products are summed in f32,
     * which may overflow. narrow_rows: sum[i] = sum of a(i, j) x(j), j < columns. narrow_columns: like `columns`. */
    void (*narrow_rows)(double *sum, const char *a, int64_t row_step, const char *x, int64_t rows,
                        int64_t columns);
    void (*narrow_columns)(double *sum, double *lost, const char *a, int64_t row_step,
                           const char *x, int64_t x_step, int64_t rows, int64_t columns);
} vector_kernels;
