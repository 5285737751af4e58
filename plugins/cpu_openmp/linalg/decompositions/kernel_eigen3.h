/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_eigen3.h - eigenvalues and vectors of many symmetric 3 x 3 matrices. The index of a table
 * is [f32, f64].
 *
 * Values ascend; vectors are columns, orthonormal to a few eps whatever the matrix, with residuals
 * of a few eps of its largest element: equal and nearly equal values, graded matrices and ones
 * whose elements are near the ends of the range included. The result depends on the matrix alone,
 * not on its index in the batch. A matrix with an element (of those read) that is not finite gives
 * NaN and info 1, all others info 0.
 */
#ifndef PLUGINS_CPU_OPENMP_LINALG_DECOMPOSITIONS_KERNEL_EIGEN3_H
#define PLUGINS_CPU_OPENMP_LINALG_DECOMPOSITIONS_KERNEL_EIGEN3_H

#include <stdint.h>

/*
 * n matrices; all steps in bytes, from one to the next of: matrices (batch), rows, columns. Only
     * the lower triangle of `matrix` is read. Outputs overlap neither it nor each other.
 */
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

#endif
