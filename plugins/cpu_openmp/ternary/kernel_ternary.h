/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_ternary.h - products with packed ternary weights, and functions that prepare their inputs and
 * finish their outputs.
 *
 * Weights are rows of blocks in the format t2 (docs/KERNELS.md): 256 weights w in 64 bytes, as the 2-bit
 * numbers u = w + 1. A token is a row of activations a, prepared in one of three forms; it has as many
 * blocks as a row of weights and is padded with zeros:
 *   TERNARY_I8      256 i8 per block. sum of w a = sum of u a - sum of a.
 *   TERNARY_PACKED  For a = -1, 0, 1. 128 bytes per block, two masks for u: 64 bytes that are XORed to
 *                   complement u where a = -1 (which gives 3 - u), then 64 bytes that are ANDed to clear
 *                   u where a = 0. sum of w a = sum of the remaining numbers - number of a = 1 - 2 times
 *                   the number of a = -1.
 *   TERNARY_F32     256 f32 per block. The sum of w a itself, with an error of at most 2^-20 times the sum
 *                   of |a|.
 * Integer sums are exact modulo 2^32. Arrays may have any alignment, and any thread may call the functions.
 *
 * TERNARY_INTERLEAVED tokens of TERNARY_I8 may be interleaved, in groups of 16: each 64 bytes of a token are
 * 16 words of four activations, and word j of token i is stored as word i of token j.
 */
#pragma once

#include <stdint.h>

enum { TERNARY_I8, TERNARY_PACKED, TERNARY_F32, TERNARY_FORMS };

#define TERNARY_BLOCK 256      /* weights */
#define TERNARY_BLOCK_BYTES 64 /* bytes of a block of weights */
#define TERNARY_MASK_BYTES 128 /* bytes of a block of TERNARY_PACKED */

/* A number of rows that is a multiple of this is fastest. */
#define TERNARY_ROWS 12

#define TERNARY_INTERLEAVED 32

/* How sums of TERNARY_INTERLEAVED tokens become results of ternary_linear. */
typedef struct ternary_finish_interleaved {
    const float *tokens; /* the scale of each token; if it is NaN, the results of the token are NaN */
    const float *scales; /* the scales of the panel's rows, or NULL */
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
    int64_t count;      /* the number of tokens */
    void *sums;         /* i32, or f32 for TERNARY_F32: [token][row] */
    int64_t sums_step;  /* elements from one token to the next */
    /* Only for multiply_interleaved. less: a number for each token that is subtracted from its sums; NULL: the sums
     * are added to the stored sums. finish: if `less` and `finish` are both set, sums become results of f32.
     */
    const int32_t *less;
    const ternary_finish_interleaved *finish;
} ternary_panel;

typedef struct ternary_products {
    void (*multiply[TERNARY_FORMS])(const ternary_panel *panel);
    /* multiply_interleaved: the same for TERNARY_INTERLEAVED interleaved tokens of TERNARY_I8. interleave:
     * interleaves blocks first .. first + blocks - 1 of this many tokens in place. Both are NULL if interleaved tokens
     * are not faster. */
    void (*multiply_interleaved)(const ternary_panel *panel);
    void (*interleave)(char *tokens, int64_t step, int64_t first, int64_t blocks);
    /* The sum of products of two packed vectors. */
    int64_t (*dot)(const uint8_t *a, const uint8_t *b, int64_t blocks);
} ternary_products;

/* How the sums of a token become results of ternary_linear. */
typedef struct ternary_finish {
    uint32_t base;       /* is subtracted from the integer sums, modulo 2^32: see the forms above */
    float scale;         /* the token's scale, for TERNARY_I8 */
    const float *scales; /* adjacent, of the rows, or NULL */
    const float *biases; /* likewise */
    int relu;
} ternary_finish;

/* All functions take adjacent elements. */
typedef struct ternary_rows {
    int32_t (*sum_i8)(const int8_t *at, int64_t n);
    /* The greatest of `so_far` and the n magnitudes, as bits; NaN is greater than all numbers. */
    uint32_t (*greatest)(uint32_t so_far, const float *x, int64_t n);
    /* q = x r, rounded to nearest, ties to even, for |x r| <= 127.5; returns the sum of q. */
    int32_t (*to_i8)(int8_t *q, const float *x, float r, int64_t n);
    /* Codes: 1 if x > t, -1 if x < -t, else 0. Returns the number of x that are not finite. [f32, f64]: type of x. */
    int64_t (*codes[2])(int8_t *codes, const void *x, double t, int64_t n);
    /* The sum of n magnitudes, with a relative error of at most n 2^-56. */
    double (*magnitudes[2])(const void *x, int64_t n);
    /* Convert codes to blocks of t2 and back; return the number of invalid codes, which become 0. */
    int64_t (*pack)(uint8_t *bytes, const int8_t *codes, int64_t blocks);
    int64_t (*unpack)(int8_t *codes, const uint8_t *bytes, int64_t blocks);
    /* Converts activations in t2 to the masks of TERNARY_PACKED; returns their ternary_finish.base. */
    uint32_t (*masks)(uint8_t *masks, const uint8_t *bytes, int64_t blocks);
    /* Computes n results of one token from its sums; the results may overwrite the sums. */
    void (*finish[TERNARY_FORMS])(float *y, const void *sums, const ternary_finish *how, int64_t n);
} ternary_rows;
