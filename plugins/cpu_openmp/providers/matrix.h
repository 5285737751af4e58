/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matrix.h - a matrix as libraries for products take it.
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
