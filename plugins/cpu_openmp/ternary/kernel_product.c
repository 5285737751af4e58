/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/ternary/products.c, tests/conformance/other_machine.c */
#include "kernel_ternary.h"

#include "kernel_lanes.h"

/* ---- Words of interleaved tokens ------------------------------------------------------------- */

#if defined(__AVX512VNNI__)

#define INTERLEAVED_WORDS 16 /* words per register: one word of each of 16 tokens */
#define INTERLEAVED_HALVES (TERNARY_INTERLEAVED / INTERLEAVED_WORDS)

typedef int32_t word_at_any __attribute__((aligned(1), may_alias));

/* Copies the four bytes at `at` to every word. Without this function the compiler loads several
 * words together and permutes them, on the execution ports that the products need. */
INLINE bytes word_in_all(const uint8_t *at)
{
    words x;
    __asm__("vpbroadcastd %1, %0" : "=v"(x) : "m"(*(const word_at_any *)(const void *)at));
    return (bytes)x;
}

/* Within each 16 bytes, exchanges word j of x[i] and word i of x[j]. */
INLINE void transpose_fours(words x[4])
{
    __m512i ab_low = _mm512_unpacklo_epi32((__m512i)x[0], (__m512i)x[1]);
    __m512i ab_high = _mm512_unpackhi_epi32((__m512i)x[0], (__m512i)x[1]);
    __m512i cd_low = _mm512_unpacklo_epi32((__m512i)x[2], (__m512i)x[3]);
    __m512i cd_high = _mm512_unpackhi_epi32((__m512i)x[2], (__m512i)x[3]);
    x[0] = (words)_mm512_unpacklo_epi64(ab_low, cd_low);
    x[1] = (words)_mm512_unpackhi_epi64(ab_low, cd_low);
    x[2] = (words)_mm512_unpacklo_epi64(ab_high, cd_high);
    x[3] = (words)_mm512_unpackhi_epi64(ab_high, cd_high);
}

/* Transposes 16 rows of 16 words, in place; rows are `step` bytes apart. */
INLINE void transpose_words(char *at, int64_t step)
{
    words x[INTERLEAVED_WORDS];
#pragma GCC unroll 16
    for (int i = 0; i < INTERLEAVED_WORDS; i++)
        x[i] = (words)load_bytes(at + i * step);
#pragma GCC unroll 4
    for (int i = 0; i < INTERLEAVED_WORDS; i += 4)
        transpose_fours(x + i);
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        __m512i a = (__m512i)x[i], b = (__m512i)x[4 + i];
        __m512i c = (__m512i)x[8 + i], d = (__m512i)x[12 + i];
        __m512i ab_even = _mm512_shuffle_i32x4(a, b, 0x88),
                cd_even = _mm512_shuffle_i32x4(c, d, 0x88);
        __m512i ab_odd = _mm512_shuffle_i32x4(a, b, 0xdd),
                cd_odd = _mm512_shuffle_i32x4(c, d, 0xdd);
        store_bytes(at + i * step, (bytes)_mm512_shuffle_i32x4(ab_even, cd_even, 0x88));
        store_bytes(at + (4 + i) * step, (bytes)_mm512_shuffle_i32x4(ab_odd, cd_odd, 0x88));
        store_bytes(at + (8 + i) * step, (bytes)_mm512_shuffle_i32x4(ab_even, cd_even, 0xdd));
        store_bytes(at + (12 + i) * step, (bytes)_mm512_shuffle_i32x4(ab_odd, cd_odd, 0xdd));
    }
}

/* Prefetches the cache lines that the sums of `rows` rows will be written to. */
INLINE void fetch_sums(const ternary_panel *p, int64_t row, int64_t rows)
{
    const int32_t *sums = (const int32_t *)p->sums + row;
    for (int t = 0; t < TERNARY_INTERLEAVED; t++, sums += p->sums_step) {
        __builtin_prefetch(sums, 1, 2);
        __builtin_prefetch(sums + rows - 1, 1, 2);
    }
}

/* The results of row `row` of the panel for the 16 tokens of a half; each operation is rounded. */
INLINE words finished(const ternary_finish_interleaved *how, words sums, int64_t row, int half)
{
    floats scale = (floats)load_bytes(how->tokens + half * INTERLEAVED_WORDS);
    floats y = __builtin_convertvector(sums, floats);
    if (how->scales)
        scale *= how->scales[row];
    y *= scale;
    IN_REGISTER(y); /* prevents a fused multiply-add with the bias */
    if (how->biases)
        y += how->biases[row];
    if (how->relu)
        y = (floats)_mm512_max_ps(_mm512_setzero_ps(), (__m512)y); /* NaN stays NaN */
    return (words)y;
}

/* If p->less is NULL, adds the sums of `rows` rows to the stored sums. Else stores the sums minus p->less or, if
 * p->finish is set, the results of these sums. The function is not inlined, so that its addresses use no registers
 * during the products. All results of a token are stored together, because tokens may be so far apart that their
 * cache lines evict each other. */
static __attribute__((noinline)) void store_interleaved(const ternary_panel *p, int64_t row,
                                                        int rows,
                                                        const words (*sums)[INTERLEAVED_HALVES])
{
    const int add = !p->less;
    const int32_t several = rows / 4 * 4;
    for (int half = 0; half < INTERLEAVED_HALVES; half++) {
        int32_t *out = (int32_t *)p->sums + half * INTERLEAVED_WORDS * p->sums_step + row;
        words less = {0}, x[TERNARY_ROWS];
        if (!add)
            less = (words)load_bytes(p->less + half * INTERLEAVED_WORDS);
        for (int r = 0; r < rows; r++) {
            x[r] = sums[r][half] - less;
            if (p->finish)
                x[r] = finished(p->finish, x[r], row + r, half);
        }
        for (int r = 0; r < several; r += 4)
            transpose_fours(x + r);
        for (int t = 0; t < INTERLEAVED_WORDS; t++, out += p->sums_step) {
            for (int r = 0; r < several; r += 4) {
                const char *four = (const char *)&x[r + t % 4] + t / 4 * 16;
                __m128i y = _mm_load_si128((const __m128i *)(const void *)four);
                __m128i *at = (__m128i *)(void *)(out + r);
                _mm_storeu_si128(at, add ? _mm_add_epi32(_mm_loadu_si128(at), y) : y);
            }
            for (int r = several; r < rows; r++)
                out[r] = (int32_t)((add ? (uint32_t)out[r] : 0) + (uint32_t)x[r][t]);
        }
    }
}

#endif

/* ---- Tiles ----------------------------------------------------------------------------------- */

typedef void (*tile)(const ternary_panel *p, int64_t row, int64_t token);

/* The name of a tile; the arguments may be macros. */
#define TILE_(kind, rows, tokens) kind##_##rows##x##tokens
#define TILE(kind, rows, tokens) TILE_(kind, rows, tokens)

/* The function for a tile of `rows` rows and `tokens` tokens, and the function for one row and `tokens` tokens. */
typedef struct tile_shape {
    int64_t tokens, rows;
    tile several, one;
} tile_shape;

INLINE const uint8_t *row_at(const ternary_panel *p, int64_t row)
{
    return p->weights + row * p->row_step;
}

/* NEAR: bytes of following rows that fit into the L1 cache together with the current rows. SOON: prefetch distance in
 * bytes.
 */
#define NEAR (16 << 10)
#define SOON 512

/* Prefetch the line `offset` bytes ahead; this line may be outside the weights. fetch_soon prefetches into the L1
 * cache, fetch_line into the L2 cache. */
INLINE void fetch_soon(const uint8_t *at, int64_t offset)
{
    __builtin_prefetch((const void *)((uintptr_t)at + (uintptr_t)offset), 0, 3);
}

INLINE void fetch_line(const uint8_t *at, int64_t offset)
{
    __builtin_prefetch((const void *)((uintptr_t)at + (uintptr_t)offset), 0, 2);
}

/* Prefetches a line of each of the next `rows` rows, because the hardware prefetcher does not.
 * If the rows together are larger than NEAR, these lines are prefetched into the L2 cache, and
 * the next lines of the current rows into the L1 cache. */
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

/* Registers: 24 with sums, 4 with weights, 1 with activations. The activations of 6 tokens stay in the L1 cache if
 * rows have up to 4096 weights. */
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

/* Registers: 24 with sums, 2 with activations, 1 with weights. */
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
