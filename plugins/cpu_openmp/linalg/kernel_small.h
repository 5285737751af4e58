/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_small.h - a product of matrices too small, or with too few columns, for packing
 * (kernel_gemm.h) to be worthwhile. The index of a table is [f32, f64]. */
#pragma once

#include "kernel_gemm.h"

typedef struct small_kernels {
    /*
     * c = a b; c is rows x columns, a rows x inner, b inner x columns; no extent is 0.
     * The elements of a row are adjacent in c and in b; columns >= columns_min. Products are summed in
     * the order of the inner axis, in blocks of SMALL_BLOCK; then the sums of the blocks are added.
     */
    void (*product[2])(const gemm_matrix *c, const gemm_matrix *a, const gemm_matrix *b,
                       int64_t rows, int64_t columns, int64_t inner);
    int64_t columns_min[2];
} small_kernels;

#define SMALL_BLOCK 128

/* Products with at most this many multiplications are faster without packing: SMALL_PRODUCT for all shapes,
 * SMALL_PRODUCT_NEAR if rows are near each other and the inner axis is longer than SMALL_THIN. With at most
 * SMALL_THIN columns packing never pays. */
#define SMALL_PRODUCT (64 * 64 * 64)
#define SMALL_PRODUCT_NEAR (128 * 128 * 128)
#define SMALL_THIN 16

static inline int small_fits(const small_kernels *k, int wide, int64_t rows, int64_t columns,
                             int64_t inner)
{
    double work = (double)rows * (double)columns * (double)inner;
    return inner > 0 && columns >= k->columns_min[wide] &&
           (columns <= SMALL_THIN ||
            work <= (inner <= SMALL_THIN ? SMALL_PRODUCT : SMALL_PRODUCT_NEAR));
}
