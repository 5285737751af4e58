/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_narrow.h - a block of a matrix product of i8, f16 or bf16, with any strides, of either sign.
 *
 * Products of i8 are exact, modulo 2^32. f16 and bf16 are multiplied and summed in f32; the sum is rounded
 * once to the type of the result. bf16 instructions flush products and sums below the smallest normal f32
 * to 0. Subnormal factors lose no bits, because products with such factors do not use these instructions.
 */
#pragma once

#include <collet/types.h>

#include "kernel_gemm.h"

typedef struct narrow_kernels {
    /* c = a b; c is rows x columns, a rows x inner, b inner x columns. If `from` is i8, `to` is i32; if
     * `from` is f16 or bf16, `to` is the same type or f32. `scratch` is 64-byte aligned. Strides of
     * each matrix are in elements of its own type. */
    void (*product)(const gemm_matrix *c, collet_dtype to, const gemm_matrix *a,
                    const gemm_matrix *b, collet_dtype from, int64_t rows, int64_t columns,
                    int64_t inner, void *scratch);
    uint64_t scratch_bytes;
    /* out[i] = the inner product of the i8 numbers a[i][0..n) and b[0..n), both adjacent, for i < rows.
     * Rows of a begin `a_step` elements apart; results are stored `out_step` elements apart. */
    void (*dots_i8)(int32_t *out, int64_t out_step, const int8_t *a, int64_t a_step, int64_t rows,
                    const int8_t *b, int64_t n);
    /* Whether any of n adjacent bf16 numbers is subnormal. */
    int (*any_subnormal_bf16)(const void *at, int64_t n);
} narrow_kernels;
