/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_blocks.h - elementwise functions of adjacent elements.
 *
 * Every row of elementwise.def has a kernel for each of its dtypes; f16 and bf16 use the kernels of
 * f32. A result depends on its operands alone, not on its place or its neighbours.
 */
#pragma once

#include <collet/types.h>

/*
 * Computes n elements. `out` may be the same array as an input whose elements have the same size.
 * Bit k of `repeated`: in[k] is one number for all elements. Kernels of ops with BLOCK_REPEATS accept one such input.
 * clip of floating-point numbers accepts two, the last two inputs. All other kernels accept none.
 */
typedef void (*block_kernel)(void *out, const void *const *in, uint32_t repeated, int64_t n);

/* The kernel of an op for one dtype, which is the dtype of the last input; NULL: none. */
typedef block_kernel (*block_find)(uint32_t op);

/*
 * A chain computes a value in several steps, and keeps it in registers: each link replaces `a`, the value so far, by
 * a function of `a` and of blocks x and y. CHAIN_MUL_ADD rounds the product before the sum.
 */
enum {
    CHAIN_ADD,      /* a + x */
    CHAIN_SUB,      /* a - x */
    CHAIN_SUB_FROM, /* x - a */
    CHAIN_MUL,      /* a * x */
    CHAIN_MUL_ADD,  /* a * x + y */
    CHAIN_NONE
};

/* Flags: x or y is one number for all elements. */
#define CHAIN_X 1u
#define CHAIN_Y 2u
#define CHAIN_CODE(op, flags) (4u * (op) + (flags))

typedef struct chain_link {
    uint32_t code;
    const void *x, *y;
} chain_link;

/* Computes n elements: out = the chain that begins with `first`. `out` may be the same array as an input. */
typedef void (*chain_kernel)(void *out, const void *first, const chain_link *links, uint32_t count,
                             int64_t n);

typedef struct block_kernels {
    /* NULL: the functions for this dtype are in another table */
    block_find find[COLLET_DTYPE_COUNT];
    chain_kernel chain[COLLET_DTYPE_COUNT]; /* f32 and f64 */
} block_kernels;

/* Exact functions of two inputs also have loops for one repeated input. */
#define BLOCK_REPEATS(inputs, ulp) ((inputs) == 2 && (ulp) == 0)
