/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of products: take.dev, product.dev, thin.dev, tiled.dev and tensor.dev. */
#ifndef COLLET_JIT_TERNARY_PRODUCT_PARAMS_H
#define COLLET_JIT_TERNARY_PRODUCT_PARAMS_H

/* How the tokens are prepared; a token is a row of x. */
typedef struct ternary_taking {
    i64 tokens, columns;
    i64 pitch;   /* how many numbers a prepared token has */
    i64 first;   /* the first token of x that is prepared */
    jit_batch v; /* operand 1 is x */
} ternary_taking;

typedef struct ternary_product {
    i64 rows, tokens;
    i64 bytes;   /* bytes of a packed row */
    i64 apart;   /* row stride in bytes */
    i64 first;   /* the first token of y that is computed */
    i64 q_first; /* the first element of x if tokens are read from x; 0 if they are prepared */
    i32 with_scale, with_bias, relu, unused;
    jit_batch v; /* operand 0 is y, 1 is x, 3 is scale, 4 is bias */
} ternary_product;

/* For thin.dev: items per team, rows per team, and how many tokens of i8 and of f32 are processed at a time. */
#define THIN_TEAM 32
#define THIN_ROWS 2
#define THIN_TOKENS 4
#define THIN_TOKENS_F32 2

/* For tiled.dev: rows and tokens per item, the words of a row and of a token in a tile, and their distances in words,
 * which are larger by one to avoid bank conflicts. */
#define TILED_SIDE 4
#define TILED_ROW_WORDS 8
#define TILED_TOKEN_WORDS 32
#define TILED_ROW_PITCH (TILED_ROW_WORDS + 1)
#define TILED_TOKEN_PITCH (TILED_TOKEN_WORDS + 1)

/* For tensor.dev: the group size, and rows and tokens per group. */
#define TENSOR_GROUP 256
#define TENSOR_ROWS 128
#define TENSOR_TOKENS 64

#endif
