/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_blocks.h - elementwise functions of adjacent elements.
 *
 * Every row of elementwise.def has a kernel for each of its dtypes; f16 and bf16 use f32's.
 * A result depends on its operands alone, not on its place or its neighbours.
 */
#pragma once

#include <collet/types.h>

/*
 * Computes n elements. `out` may be the same array as an input whose elements have the same size.
 * Bit k of `repeated`: in[k] is one number for all elements. Kernels of ops with BLOCK_REPEATS accept one such input.
 * BLOCK_MUL_ADD (below) and clip of floating-point numbers accept two, the last two inputs. All other kernels accept
 * none.
 */
typedef void (*block_kernel)(void *out, const void *const *in, uint32_t repeated, int64_t n);

/* The kernel of an op for one dtype, which is the dtype of the last input; NULL: none. */
typedef block_kernel (*block_find)(uint32_t op);

typedef struct block_kernels {
    block_find find[COLLET_DTYPE_COUNT]; /* NULL: the functions for this dtype are in another table */
} block_kernels;

/* A kernel that belongs to no op, for f32 and f64: in[0] * in[1] + in[2]. It rounds the product before the sum. in[1]
 * and in[2] may be repeated. */
#define BLOCK_MUL_ADD UINT32_MAX

/* Exact functions of two inputs also have loops for one repeated input. */
#define BLOCK_REPEATS(inputs, ulp) ((inputs) == 2 && (ulp) == 0)
