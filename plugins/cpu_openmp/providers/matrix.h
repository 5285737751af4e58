/* SPDX-License-Identifier: Apache-2.0 */
/* matrix.h - a matrix in the form that BLAS requires. */
#pragma once

#include <stdint.h>

/* A row-major matrix with `stride` elements between rows. If `transposed`, a column-major matrix with `stride`
 * elements between columns. TRANSPOSED_CONJUGATE: a factor of a product is transposed and conjugated. */
#define TRANSPOSED_CONJUGATE 2

typedef struct blas_matrix {
    void *at;
    int64_t stride;
    int transposed;
} blas_matrix;
