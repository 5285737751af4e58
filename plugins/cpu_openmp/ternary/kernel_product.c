/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/ternary/products.c, tests/cpu_openmp/test_kernels_ternary.c */
#include "kernel_ternary.h"

#include <stddef.h>

#include "kernel_interleaved.h"
#include "kernel_lanes.h"

/* ---- Tiles ----------------------------------------------------------------------------------- */

typedef void (*tile)(const ternary_panel *p, int64_t row, int64_t token);

/* The name of a tile; the arguments may be macros. */
#define TILE_(kind, rows, tokens) kind##_##rows##x##tokens
#define TILE(kind, rows, tokens) TILE_(kind, rows, tokens)

/* A tile of `rows` rows and `tokens` tokens, and the same of one row. */
typedef struct tile_shape {
    int64_t tokens, rows;
    tile several, one;
} tile_shape;

INLINE const uint8_t *row_at(const ternary_panel *p, int64_t row)
{
    return p->weights + row * p->row_step;
}

/* Bytes of rows that the L1 cache holds besides the current ones; bytes ahead. */
#define NEAR (16 << 10)
#define SOON 512

/* Both prefetch the line `offset` bytes ahead, whether or not that is within the weights: into the
 * L1 cache, or into the L2 cache. */
INLINE void fetch_soon(const uint8_t *at, int64_t offset)
{
    __builtin_prefetch((const void *)((uintptr_t)at + (uintptr_t)offset), 0, 3);
}

INLINE void fetch_line(const uint8_t *at, int64_t offset)
{
    __builtin_prefetch((const void *)((uintptr_t)at + (uintptr_t)offset), 0, 2);
}

/* Prefetches a line of each of the `rows` rows after those at `at`: the hardware prefetcher does
 * not. */
INLINE void fetch_next(const uint8_t *at, int64_t row_step, int64_t rows)
{
    const int near = rows * row_step <= NEAR;
    for (int64_t r = 0; r < rows; r++) {
        fetch_soon(at, near ? (rows + r) * row_step : r * row_step + SOON);
        if (!near)
            fetch_line(at, (rows + r) * row_step);
    }
}

/* Uses the widest tiles first; tiles of one token end the list. */
INLINE void multiply(const ternary_panel *p, const tile_shape *shape)
{
    for (int64_t token = 0; token < p->count; shape++) {
        for (; token + shape->tokens <= p->count; token += shape->tokens) {
            int64_t row = 0;
            for (; row + shape->rows <= p->rows; row += shape->rows)
                shape->several(p, row, token);
            for (; row < p->rows; row++)
                shape->one(p, row, token);
        }
    }
}

/* ---- i8 -------------------------------------------------------------------------------------- */

#if defined(__AVX512VNNI__)

/* 24 sums, 4 registers of weights, one of activations: activations of 4096 weights stay in the
 * cache. */
#define ROWS 4
#define TOKENS 6
#include "kernel_i8.inc"

#define ROWS 1
#define TOKENS 6
#include "kernel_i8.inc"

#define ROWS 4
#define TOKENS 2
#include "kernel_i8.inc"

#define ROWS 1
#define TOKENS 2
#include "kernel_i8.inc"

#else

#if VECTOR_REGISTERS == 32
#define SEVERAL 4
#else
#define SEVERAL 2
#endif

#define ROWS SEVERAL
#define TOKENS 4
#include "kernel_i8.inc"

#define ROWS 1
#define TOKENS 4
#include "kernel_i8.inc"

#endif

#define ROWS 4
#define TOKENS 1
#include "kernel_i8.inc"

#define ROWS 1
#define TOKENS 1
#include "kernel_i8.inc"

static const tile_shape i8_shapes[] = {
#if defined(__AVX512VNNI__)
    {6, 4, TILE(i8, 4, 6), TILE(i8, 1, 6)},
    {2, 4, TILE(i8, 4, 2), TILE(i8, 1, 2)},
#else
    {4, SEVERAL, TILE(i8, SEVERAL, 4), TILE(i8, 1, 4)},
#endif
    {1, 4, TILE(i8, 4, 1), TILE(i8, 1, 1)},
};

static void multiply_i8(const ternary_panel *p)
{
    multiply(p, i8_shapes);
}

/* ---- i8, interleaved tokens ------------------------------------------------------------------ */

#if defined(__AVX512VNNI__)

/* 24 sums, two registers of activations, one of weights. */
#define ROWS TERNARY_ROWS
#include "kernel_interleaved.inc"

#define ROWS 4
#include "kernel_interleaved.inc"

#define ROWS 1
#include "kernel_interleaved.inc"

static void multiply_interleaved(const ternary_panel *p)
{
    int64_t row = 0;
    for (; row + TERNARY_ROWS <= p->rows; row += TERNARY_ROWS)
        TILE(interleaved, TERNARY_ROWS, 32)(p, row);
    for (; row + 4 <= p->rows; row += 4)
        TILE(interleaved, 4, 32)(p, row);
    for (; row < p->rows; row++)
        TILE(interleaved, 1, 32)(p, row);
}

static void interleave(char *tokens, int64_t step, int64_t first, int64_t blocks)
{
    for (int64_t at = first * TERNARY_BLOCK; at < (first + blocks) * TERNARY_BLOCK; at += 64) {
        for (int half = 0; half < INTERLEAVED_HALVES; half++)
            transpose_words(tokens + half * INTERLEAVED_WORDS * step + at, step);
    }
}

#endif

/* ---- Packed ---------------------------------------------------------------------------------- */

typedef struct mask_pair {
    bytes complement, keep;
} mask_pair;

INLINE mask_pair masks_at(const char *block, int piece)
{
    const char *at = block + piece * VECTOR_BYTES;
    return (mask_pair){load_bytes(at), load_bytes(at + 64)};
}

INLINE bytes kept(bytes u, mask_pair m)
{
    return (u ^ m.complement) & m.keep;
}

#if VECTOR_REGISTERS == 32

#define ROWS 4
#define TOKENS 4
#include "kernel_packed.inc"

#define ROWS 1
#define TOKENS 4
#include "kernel_packed.inc"

#endif

#define ROWS 2
#define TOKENS 2
#include "kernel_packed.inc"

#define ROWS 1
#define TOKENS 2
#include "kernel_packed.inc"

#define ROWS 4
#define TOKENS 1
#include "kernel_packed.inc"

#define ROWS 1
#define TOKENS 1
#include "kernel_packed.inc"

static const tile_shape packed_shapes[] = {
#if VECTOR_REGISTERS == 32
    {4, 4, TILE(packed, 4, 4), TILE(packed, 1, 4)},
#endif
    {2, 2, TILE(packed, 2, 2), TILE(packed, 1, 2)},
    {1, 4, TILE(packed, 4, 1), TILE(packed, 1, 1)},
};

static void multiply_packed(const ternary_panel *p)
{
    multiply(p, packed_shapes);
}

/* ---- f32 ------------------------------------------------------------------------------------- */

#define ROWS 2
#define TOKENS 4
#include "kernel_f32.inc"

#define ROWS 1
#define TOKENS 4
#include "kernel_f32.inc"

#define ROWS 4
#define TOKENS 1
#include "kernel_f32.inc"

#define ROWS 1
#define TOKENS 1
#include "kernel_f32.inc"

static const tile_shape f32_shapes[] = {
    {4, 2, TILE(f32, 2, 4), TILE(f32, 1, 4)},
    {1, 4, TILE(f32, 4, 1), TILE(f32, 1, 1)},
};

static void multiply_f32(const ternary_panel *p)
{
    multiply(p, f32_shapes);
}

/* ---- Two packed vectors ---------------------------------------------------------------------- */

/* The product of the weights that two 2-bit numbers encode, as a 2-bit number: 1 if the lower bit
 * of either is set, else 2 if the higher bits are equal, 0 if they differ. */
INLINE bytes product_fields(bytes a, bytes b)
{
    bytes zero = a | b;
    return (~((bytes)((ushorts)zero << 1) | (a ^ b)) & 0xaa) | (zero & 0x55);
}

static int64_t dot(const uint8_t *a, const uint8_t *b, int64_t blocks)
{
    quads sum = {0};
    for (int64_t first = 0, last; first < blocks; first = last) {
        counts part = {0};
        last = blocks - first > COUNT_BLOCKS ? first + COUNT_BLOCKS : blocks;
        int64_t i = first * PIECES, end = last * PIECES;
        for (; i + 2 <= end; i += 2) {
            const uint8_t *x = a + i * VECTOR_BYTES, *y = b + i * VECTOR_BYTES;
            part = counts_add_two(
                part, product_fields(load_bytes(x), load_bytes(y)),
                product_fields(load_bytes(x + VECTOR_BYTES), load_bytes(y + VECTOR_BYTES)));
        }
        for (; i < end; i++)
            part = counts_add(part, product_fields(load_bytes(a + i * VECTOR_BYTES),
                                                   load_bytes(b + i * VECTOR_BYTES)));
        sum = counts_sum(sum, part);
    }
    return across_quads(sum) - blocks * TERNARY_BLOCK;
}

extern const ternary_products LEVEL_NAME(ternary);
const ternary_products LEVEL_NAME(ternary) = {
    .multiply = {multiply_i8, multiply_packed, multiply_f32},
#if defined(__AVX512VNNI__)
    .multiply_interleaved = multiply_interleaved,
    .interleave = interleave,
#endif
    .dot = dot,
};
