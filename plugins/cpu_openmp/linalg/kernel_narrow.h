/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_narrow.h - a block of a matrix product of narrow types, any strides, of either sign.
 *
 * i8 is exact, modulo 2^32. f16 and bf16 are multiplied and summed in f32, rounded once to the type
 * of the result; where the processor's bf16 instructions are used, products and sums below the
 * smallest normal f32 are flushed to 0 (factors are not).
 */
#ifndef PLUGINS_CPU_OPENMP_LINALG_KERNEL_NARROW_H
#define PLUGINS_CPU_OPENMP_LINALG_KERNEL_NARROW_H

#include <collet/types.h>

#include "kernel_gemm.h"

typedef struct narrow_kernels {
    /*
     * c = a b; c is rows x columns, a rows x inner, b inner x columns. `from` is i8, with c i32, or
     * f16 or bf16, with c the same or f32. `scratch` is 64-byte aligned. Strides of each matrix
     * are in elements of its own type.
     */
    void (*product)(const gemm_matrix *c, collet_dtype to, const gemm_matrix *a,
                    const gemm_matrix *b, collet_dtype from, int64_t rows, int64_t columns,
                    int64_t inner, void *scratch);
    uint64_t scratch_bytes;
    /* out[i] = the inner product of the i8 numbers a[i][0..n) and b[0..n), both adjacent, for
     * `rows` rows of a that begin `a_step` elements apart; out's are `out_step` apart. */
    void (*dots_i8)(int32_t *out, int64_t out_step, const int8_t *a, int64_t a_step, int64_t rows,
                    const int8_t *b, int64_t n);
    /* Whether any of n adjacent bf16 numbers is subnormal. */
    int (*any_subnormal_bf16)(const void *at, int64_t n);
} narrow_kernels;

#endif
