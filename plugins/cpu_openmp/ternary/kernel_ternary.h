/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ternary.h - products with packed ternary weights, and what goes into and comes out of them.
 *
 * Weights are rows of blocks in the format t2 (docs/KERNELS.md): 256 weights w in 64 bytes, as the
 * numbers u = w + 1. A token is a row of activations, prepared for one of three forms; it has as
 * many blocks as the weights, filled up with zeros:
 *   TERNARY_I8      256 i8 a block. The sum is that of u a; less the sum of a it is that of w a.
 *   TERNARY_PACKED  128 bytes a block: 64 that complement u where a = -1 (its complement of two
 *                   bits is 3 - u), then 64 that keep u where a != 0. The sum is that of the
 * numbers that are left; less the number of a = 1 and twice that of a = -1 it is that of w a.
 *   TERNARY_F32     256 f32 a block, and the sum of w a itself, within 2^-20 of that of |a|.
 * Integer sums are exact modulo 2^32. Any alignment; any thread.
 *
 * TERNARY_BESIDE tokens of TERNARY_I8 may lie side by side: 16 and 16 of them, and of every 64
 * bytes of 16 tokens, each 16 words of four activations, word j of token i is at word i of token j.
 */
#ifndef COLLET_OPENMP_KERNELS_TERNARY_H
#define COLLET_OPENMP_KERNELS_TERNARY_H

#include <stdint.h>

enum { TERNARY_I8, TERNARY_PACKED, TERNARY_F32, TERNARY_FORMS };

#define TERNARY_BLOCK 256      /* weights */
#define TERNARY_BLOCK_BYTES 64 /* of weights */
#define TERNARY_MASK_BYTES 128 /* of a block of TERNARY_PACKED */

/* Rows are handled best by multiples of this. */
#define TERNARY_ROWS 12

#define TERNARY_BESIDE 32

/* Of a block; and blocks whose sums from tables, eight of -512 to 508 each, have room in 16 bits.
 */
#define TERNARY_TABLE_BYTES (32 * 1024)
#define TERNARY_TABLE_BLOCKS 8

/* How sums of TERNARY_BESIDE tokens become results of ternary_linear. */
typedef struct ternary_finish_beside {
    const float *tokens; /* the scale of each; NaN: so are its results */
    const float *scales; /* of the panel's rows, or NULL */
    const float *biases; /* likewise */
    int relu;
} ternary_finish_beside;

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
    /* multiply_beside: what is subtracted from each token's sums; NULL: sums are added to those
     * that are there. How sums that nothing is added to become f32, or NULL. And what set_tables
     * made of these blocks of these tokens, or NULL. */
    const int32_t *less;
    const ternary_finish_beside *finish;
    const char *tables;
} ternary_panel;

typedef struct ternary_products {
    void (*multiply[TERNARY_FORMS])(const ternary_panel *panel);
    /* The same for TERNARY_BESIDE tokens of TERNARY_I8 that lie side by side, with tables at most
     * TERNARY_TABLE_BLOCKS blocks; what lays blocks first .. first + blocks - 1 of so many tokens
     * so, in place; and what makes tables of tokens that lie so, TERNARY_TABLE_BYTES for each
     * block, 64-byte aligned. All NULL where tokens side by side are not faster; set_tables alone
     * where products of many rows are not faster with tables. */
    void (*multiply_beside)(const ternary_panel *panel);
    void (*set_beside)(char *tokens, int64_t step, int64_t first, int64_t blocks);
    void (*set_tables)(char *tables, const char *tokens, int64_t step, int64_t blocks);
    /* The sum of products of two packed vectors. */
    int64_t (*dot)(const uint8_t *a, const uint8_t *b, int64_t blocks);
} ternary_products;

/* How the sums of a token become results of ternary_linear. */
typedef struct ternary_finish {
    uint32_t base;       /* what the integer sums are too large by, modulo 2^32 */
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
    /* Blocks of t2 from and to codes; returns how many were none and became 0. */
    int64_t (*pack)(uint8_t *bytes, const int8_t *codes, int64_t blocks);
    int64_t (*unpack)(int8_t *codes, const uint8_t *bytes, int64_t blocks);
    /* Blocks of t2 as activations; returns what sums with them are too large by, modulo 2^32. */
    uint32_t (*masks)(uint8_t *masks, const uint8_t *bytes, int64_t blocks);
    /* n results of one token from its sums, which may be in their place. */
    void (*finish[TERNARY_FORMS])(float *y, const void *sums, const ternary_finish *how, int64_t n);
} ternary_rows;

#endif
