/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of products: take.dev, product.dev and the files that multiply. */
#ifndef COLLET_JIT_TERNARY_PRODUCT_PARAMS_H
#define COLLET_JIT_TERNARY_PRODUCT_PARAMS_H

/* The preparation of tokens, which are the rows of x. */
typedef struct ternary_taking {
    i64 tokens, columns;
    i64 pitch;   /* numbers of a prepared token */
    i64 first;   /* of x's tokens */
    jit_batch v; /* operand 1 is x */
} ternary_taking;

typedef struct ternary_product {
    i64 rows, tokens;
    i64 bytes;   /* of a packed row */
    i64 apart;   /* row stride in bytes */
    i64 first;   /* of y's tokens */
    i64 q_first; /* of tokens read from x directly; 0 for prepared ones */
    i32 with_scale, with_bias, relu, unused;
    jit_batch v; /* y 0, x 1, scale 3, bias 4 */
} ternary_product;

/* thin.dev: items per team, rows per team, tokens at a time for i8 and for f32. */
#define THIN_TEAM 32
#define THIN_ROWS 2
#define THIN_TOKENS 4
#define THIN_TOKENS_F32 2

/* tiled.dev: rows and tokens per item, and the words of a row and of a token in a tile, padded by
 * one against bank conflicts. */
#define TILED_SIDE 4
#define TILED_ROW_WORDS 8
#define TILED_TOKEN_WORDS 32
#define TILED_ROW_PITCH (TILED_ROW_WORDS + 1)
#define TILED_TOKEN_PITCH (TILED_TOKEN_WORDS + 1)

/* tensor.dev: its group size, its rows and tokens. */
#define TENSOR_GROUP 256
#define TENSOR_ROWS 128
#define TENSOR_TOKENS 64

#endif
