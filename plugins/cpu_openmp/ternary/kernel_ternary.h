/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_ternary.h - products with packed ternary weights, and the inputs and outputs of
 * them.
 *
 * Weights are rows of blocks in the format t2 (docs/KERNELS.md): 256 weights w in 64 bytes, as the
 * numbers u = w + 1. A token is a row of activations, prepared for one of three forms; it has as
 * many blocks as the weights, filled up with zeros:
 *   TERNARY_I8      256 i8 a block. The sum of u a, minus the sum of a, is the sum of w a.
 *   TERNARY_PACKED  128 bytes a block: 64 that complement u where a = -1 (its complement of two
 *                   bits is 3 - u), then 64 that keep u where a != 0. The sum of the numbers
 *                   that are left, minus the number of a = 1, minus twice the number of a = -1,
 *                   is the sum of w a.
 *   TERNARY_F32     256 f32 a block, and the sum of w a itself, within 2^-20 of the sum of |a|.
 * Integer sums are exact modulo 2^32. Any alignment; any thread.
 *
 * TERNARY_INTERLEAVED tokens of TERNARY_I8 may be interleaved, 16 and 16 of them: of every 64 bytes
 * of 16 tokens, each 16 words of four activations, word j of token i is at word i of token j.
 */
#ifndef PLUGINS_CPU_OPENMP_TERNARY_KERNEL_TERNARY_H
#define PLUGINS_CPU_OPENMP_TERNARY_KERNEL_TERNARY_H

#include <stdint.h>

enum { TERNARY_I8, TERNARY_PACKED, TERNARY_F32, TERNARY_FORMS };

#define TERNARY_BLOCK 256      /* weights */
#define TERNARY_BLOCK_BYTES 64 /* of weights */
#define TERNARY_MASK_BYTES 128 /* of a block of TERNARY_PACKED */

/* Rows are handled best by multiples of this. */
#define TERNARY_ROWS 12

#define TERNARY_INTERLEAVED 32

/* How sums of TERNARY_INTERLEAVED tokens become results of ternary_linear. */
typedef struct ternary_finish_interleaved {
    const float *tokens; /* the scale of each; NaN: so are its results */
    const float *scales; /* of the panel's rows, or NULL */
    const float *biases; /* likewise */
    int relu;
} ternary_finish_interleaved;

/* Some rows of weights and some tokens. */
typedef struct ternary_panel {
    const uint8_t *weights;
    int64_t row_step; /* bytes, of either sign */
    int64_t rows, blocks;
    const char *tokens;
    int64_t token_step; /* bytes */
    int64_t count;      /* of tokens */
    void *sums;         /* i32, or f32 for TERNARY_F32: [token][row] */
    int64_t sums_step;  /* elements from one token to the next */
    /* only for multiply_interleaved: the number that is subtracted from each token's sums (NULL:
     * the sums are added to the stored ones), and how sums that are not added become f32, or
     * NULL. */
    const int32_t *less;
    const ternary_finish_interleaved *finish;
} ternary_panel;

typedef struct ternary_products {
    void (*multiply[TERNARY_FORMS])(const ternary_panel *panel);
    /* The same for TERNARY_INTERLEAVED interleaved tokens of TERNARY_I8; and the function that
     * interleaves blocks first .. first + blocks - 1 of that many tokens in place. Both are NULL if
     * interleaved tokens are not faster. */
    void (*multiply_interleaved)(const ternary_panel *panel);
    void (*interleave)(char *tokens, int64_t step, int64_t first, int64_t blocks);
    /* The sum of products of two packed vectors. */
    int64_t (*dot)(const uint8_t *a, const uint8_t *b, int64_t blocks);
} ternary_products;

/* How the sums of a token become results of ternary_linear. */
typedef struct ternary_finish {
    uint32_t base;       /* the excess of the integer sums, modulo 2^32 */
    float scale;         /* of the token, for TERNARY_I8 */
    const float *scales; /* adjacent, of the rows, or NULL */
    const float *biases; /* likewise */
    int relu;
} ternary_finish;

/* All of adjacent elements. */
typedef struct ternary_rows {
    int32_t (*sum_i8)(const int8_t *at, int64_t n);
    /* The greatest of `so_far` and the n magnitudes, as bits; NaN is greater than all numbers. */
    uint32_t (*greatest)(uint32_t so_far, const float *x, int64_t n);
    /* q = x r, |x r| <= 127.5, to nearest, ties to even; returns the sum of q. */
    int32_t (*to_i8)(int8_t *q, const float *x, float r, int64_t n);
    /* 1 above t, -1 below -t, else 0; returns how many are not finite. The index is [f32, f64]. */
    int64_t (*codes[2])(int8_t *codes, const void *x, double t, int64_t n);
    /* The sum of n magnitudes, good to n 2^-56 of it. */
    double (*magnitudes[2])(const void *x, int64_t n);
    /* Blocks of t2 from and to codes; returns how many codes were invalid and became 0. */
    int64_t (*pack)(uint8_t *bytes, const int8_t *codes, int64_t blocks);
    int64_t (*unpack)(int8_t *codes, const uint8_t *bytes, int64_t blocks);
    /* Blocks of t2 as activations; returns the excess of sums with them, modulo 2^32. */
    uint32_t (*masks)(uint8_t *masks, const uint8_t *bytes, int64_t blocks);
    /* n results of one token from its sums; the results may overwrite the sums. */
    void (*finish[TERNARY_FORMS])(float *y, const void *sums, const ternary_finish *how, int64_t n);
} ternary_rows;

#endif
