/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_gemm.h - a block of a matrix product, for operands that BLAS does not support: any
 * strides, of either sign. */
#pragma once

#include <stdint.h>

/* A view of a matrix; strides in elements. */
typedef struct gemm_matrix {
    char *at;
    int64_t row, column;
} gemm_matrix;

typedef struct gemm_kernels {
    /* c = a b; c is rows x columns, a rows x inner, b inner x columns. Every element is summed in the same order,
     * independent of the block in which it is computed. `scratch` is 64-byte aligned. */
    void (*product[4])(const gemm_matrix *c, const gemm_matrix *a, const gemm_matrix *b,
                       int64_t rows, int64_t columns, int64_t inner,
                       void *scratch); /* [f32, f64, c64, c128] */
    uint64_t scratch_bytes;
} gemm_kernels;
