/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_eigen3.h - eigenvalues and vectors of many symmetric 3 x 3 matrices. The index of a table
 * is [f32, f64].
 *
 * Values ascend; vectors are columns. The vectors are orthonormal to a few eps, and residuals are a few
 * eps times the largest element of the matrix. This holds for all matrices, even for graded matrices, for matrices
 * with equal or nearly equal eigenvalues, and for elements near the ends of the range. The result depends on the
 * matrix alone, not on its index in the batch. If an element that is read is not finite, the results are NaN
 * and info is 1; else info is 0.
 */
#pragma once

#include <stdint.h>

/* n matrices. Steps in bytes: *_step between matrices, *_row between rows, *_column between columns. Only
 * the lower triangle of `matrix` is read. Outputs overlap neither `matrix` nor each other. */
typedef struct eigen3_batch {
    const char *matrix;
    char *values, *vectors, *info; /* info: i32 */
    int64_t n;
    int64_t matrix_step, matrix_row, matrix_column;
    int64_t values_step, values_row;
    int64_t vectors_step, vectors_row, vectors_column;
    int64_t info_step;
} eigen3_batch;

typedef struct eigen3_kernels {
    void (*run[2])(const eigen3_batch *batch);
} eigen3_kernels;
