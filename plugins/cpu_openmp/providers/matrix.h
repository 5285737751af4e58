/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matrix.h - a matrix in the form that BLAS requires.
 */
#ifndef COLLET_OPENMP_MATRIX_H
#define COLLET_OPENMP_MATRIX_H

#include <stdint.h>

/* Row-major with `stride` elements from row to row, or, transposed, from column to column. */
typedef struct blas_matrix {
    void *at;
    int64_t stride;
    int transposed;
} blas_matrix;

#endif
