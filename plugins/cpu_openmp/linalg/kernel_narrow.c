/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scheme of kernel_gemm.c on words of 32 bits. A word holds a group of adjacent elements along the inner axis:
 * all elements that one instruction multiplies and sums in a lane of 32 bits. So packing, blocks and tiles are the
 * same for every type.
 * Tests: conformance/linalg/linalg.c, tests/conformance/other_machine.c
 */
#include "kernel_narrow.h"

#include <string.h>

#include "shared/host/util/counts.h"
#include "cpu_openmp/util/kernel_functions.h"
#include "shared/host/util/half.h"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#define TILE_COLUMNS (2 * LANES_F32)

/* Extents of the copied blocks, in words along the inner axis. */
#define BLOCK_STEPS 256
#define BLOCK_ROWS 96
#define BLOCK_COLUMNS 1024

/* Rows whose partial sums are kept for the next block of the inner axis. */
#define PANEL_ROWS 384

typedef uint32_t word;
typedef uint32_t words __attribute__((vector_size(VECTOR_BYTES), may_alias));
typedef float floats __attribute__((vector_size(VECTOR_BYTES), may_alias));

typedef word (*pack)(word *out, const char *at, int64_t lane_step, int64_t k_step, int64_t lanes,
                     int64_t depth);

/* The functions for one type. A pack function returns a nonzero number if it finds elements that `tile` does
 * not support. */
typedef struct form {
    int64_t group, size; /* elements per word; bytes per element */
    int is_float;
    pack left, right;
    void (*tile)(word tile[TILE_ROWS][TILE_COLUMNS], const word *a, const word *b, int64_t steps);
} form;

INLINE words splat(word x)
{
    return x - (words){0};
}

#define NO_FIRST_VALUES(first, slice, steps) memset(first, 0, TILE_ROWS * sizeof(word))

/* ---- 16-bit floats, widened ------------------------------------------------------------------ */

/* The exponent is adjusted by a multiplication, which also normalises subnormal halves. */
INLINE word word_of_f16(const uint16_t *at, int64_t step, int64_t n, word *seen)
{
    word half = *at, magnitude = half & 0x7fffu;
    word wide = bits_f32(of_f32(magnitude << 13) * 0x1p112f);
    (void)step, (void)n, (void)seen;
    wide |= magnitude >= 0x7c00u ? 0x7f800000u : 0;
    return wide | (half & 0x8000u) << 16;
}

INLINE word word_of_bf16(const uint16_t *at, int64_t step, int64_t n, word *seen)
{
    (void)step, (void)n, (void)seen;
    return (word)*at << 16;
}

#define NAME(x) f16_##x
#define SOURCE uint16_t
#define GROUP 1
#define WORD word_of_f16
#define FLIP 0
#define FIRST_VALUES NO_FIRST_VALUES
#include "kernel_narrow_pack.inc"

#define NAME(x) bf16_##x
#define SOURCE uint16_t
#define GROUP 1
#define WORD word_of_bf16
#define FLIP 0
#define FIRST_VALUES NO_FIRST_VALUES
#include "kernel_narrow_pack.inc"

INLINE words multiply_f32(words sum, words a, words b)
{
    return (words)((floats)sum + (floats)a * (floats)b);
}

#define NAME(x) f32_##x
#define STEP multiply_f32
#include "kernel_narrow_tile.inc"

static const form widened_f16 = {1, 2, 1, f16_pack_left, f16_pack_right, f32_tile};
static const form widened_bf16 = {1, 2, 1, bf16_pack_left, bf16_pack_right, f32_tile};

/* ---- bf16 by the bf16 instruction ------------------------------------------------------------- */

#if defined(__AVX512BF16__)

/* The bf16 instruction treats subnormal factors as 0; so *seen reports whether there are any. */
INLINE word pair_of_bf16(const uint16_t *at, int64_t step, int64_t n, word *seen)
{
    word low = at[0], high = n > 1 ? at[step] : 0;
    word subnormal = ((low & 0x7fffu) - 1u < 0x7fu) | ((high & 0x7fffu) - 1u < 0x7fu);
    *seen |= subnormal;
    return low | high << 16;
}

#define NAME(x) bf16_pairs_##x
#define SOURCE uint16_t
#define GROUP 2
#define WORD pair_of_bf16
#define FLIP 0
#define FIRST_VALUES NO_FIRST_VALUES
#include "kernel_narrow_pack.inc"

INLINE words multiply_bf16(words sum, words a, words b)
{
#if defined(__clang__) && __clang_major__ < 18 /* clang 17 crashes if an operand is a single number in memory */
    __asm__("vdpbf16ps %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
    return sum;
#else
    return (words)_mm512_dpbf16_ps((__m512)sum, (__m512bh)a, (__m512bh)b);
#endif
}

#define NAME(x) bf16_pairs_##x
#define STEP multiply_bf16
#include "kernel_narrow_tile.inc"

static const form paired_bf16 = {
    2, 2, 1, bf16_pairs_pack_left, bf16_pairs_pack_right, bf16_pairs_tile};
#define BF16 (&paired_bf16)
#else
#define BF16 (&widened_bf16)
#endif

/* ---- i8 -------------------------------------------------------------------------------------- */

#if defined(__AVX512VNNI__)

/* The instruction multiplies unsigned by signed numbers. So 128 is added to the elements of b, and each sum
 * starts at -128 times the sum of the row of a. */
INLINE word four_of_i8(const uint8_t *at, int64_t step, int64_t n, word *seen)
{
    word a = at[0], b = n > 1 ? at[step] : 0;
    word c = n > 2 ? at[2 * step] : 0, d = n > 3 ? at[3 * step] : 0;
    (void)seen;
    return a | b << 8 | c << 16 | d << 24;
}

static void first_values(word *first, const word *slice, int64_t steps)
{
    int32_t sum[TILE_ROWS] = {0};
    for (int64_t k = 0; k < steps; k++) {
        for (int i = 0; i < TILE_ROWS; i++) {
            word x = slice[k * TILE_ROWS + i];
            sum[i] += (int8_t)x + (int8_t)(x >> 8) + (int8_t)(x >> 16) + (int8_t)(x >> 24);
        }
    }
    for (int i = 0; i < TILE_ROWS; i++)
        first[i] = (word)(-128 * sum[i]);
}

#define NAME(x) i8_##x
#define SOURCE uint8_t
#define GROUP 4
#define WORD four_of_i8
#define FLIP 0x80808080u
#define FIRST_VALUES first_values
#include "kernel_narrow_pack.inc"

INLINE words multiply_i8(words sum, words a, words b)
{
    return (words)_mm512_dpbusd_epi32((__m512i)sum, (__m512i)b, (__m512i)a);
}

#define NAME(x) i8_##x
#define STEP multiply_i8
#include "kernel_narrow_tile.inc"

static const form fours_of_i8 = {4, 1, 0, i8_pack_left, i8_pack_right, i8_tile};
#define I8 (&fours_of_i8)

#else

/* Converts to pairs of i16: two products and their sum fit into 32 bits. */
INLINE word pair_of_i8(const int8_t *at, int64_t step, int64_t n, word *seen)
{
    (void)seen;
    return (uint16_t)at[0] | (word)(uint16_t)(n > 1 ? at[step] : 0) << 16;
}

#define NAME(x) i8_##x
#define SOURCE int8_t
#define GROUP 2
#define WORD pair_of_i8
#define FLIP 0
#define FIRST_VALUES NO_FIRST_VALUES
#include "kernel_narrow_pack.inc"

INLINE words multiply_pairs(words sum, words a, words b)
{
#if defined(__AVX512BW__)
    return sum + (words)_mm512_madd_epi16((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
    return sum + (words)_mm256_madd_epi16((__m256i)a, (__m256i)b);
#elif defined(__SSE2__)
    return sum + (words)_mm_madd_epi16((__m128i)a, (__m128i)b);
#else
    typedef int32_t integers __attribute__((vector_size(VECTOR_BYTES)));
    integers low = ((integers)(a << 16) >> 16) * ((integers)(b << 16) >> 16);
    integers high = ((integers)a >> 16) * ((integers)b >> 16);
    return sum + (words)(low + high);
#endif
}

#define NAME(x) i8_##x
#define STEP multiply_pairs
#include "kernel_narrow_tile.inc"

static const form pairs_of_i8 = {2, 1, 0, i8_pack_left, i8_pack_right, i8_tile};
#define I8 (&pairs_of_i8)
#endif

/* ---- Results --------------------------------------------------------------------------------- */

static void round_f16(uint16_t out[TILE_COLUMNS], const word in[TILE_COLUMNS])
{
#if defined(__F16C__)
    for (int i = 0; i < TILE_COLUMNS; i += 8) {
        __m256 x = _mm256_loadu_ps((const float *)(const void *)(in + i));
        _mm_storeu_si128((__m128i *)(void *)(out + i), _mm256_cvtps_ph(x, 0));
    }
#else
    for (int i = 0; i < TILE_COLUMNS; i++)
        out[i] = cpu_f16_from((double)of_f32(in[i]));
#endif
}

static void round_bf16(uint16_t out[TILE_COLUMNS], const word in[TILE_COLUMNS])
{
    for (int i = 0; i < TILE_COLUMNS; i++) {
        word x = in[i], rounded = (x + 0x7fffu + (x >> 16 & 1u)) >> 16;
        word quiet = (x >> 31 << 15) | 0x7fc0u;
        out[i] = (uint16_t)((x & 0x7fffffffu) > 0x7f800000u ? quiet : rounded);
    }
}

static void store_halves(char *at, int64_t step, const word *row, int64_t n, collet_dtype to)
{
    uint16_t rounded[TILE_COLUMNS], *out = (uint16_t *)(void *)at;
    if (to == COLLET_F16)
        round_f16(rounded, row);
    else
        round_bf16(rounded, row);
    for (int64_t j = 0; j < n; j++)
        out[j * step] = rounded[j];
}

static void store_words(char *at, int64_t step, const word *row, int64_t n)
{
    word *out = (word *)(void *)at;
    if (step == 1)
        memcpy(out, row, (size_t)n * sizeof *out);
    for (int64_t j = 0; step != 1 && j < n; j++)
        out[j * step] = row[j];
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

/* A block of c, its sums so far, and whether the current block of the inner axis is the first or the last. */
typedef struct target {
    const gemm_matrix *c;
    collet_dtype to;
    int64_t i, j, rows, columns;
    word *panel; /* BLOCK_COLUMNS words per row */
    int first, last;
} target;

INLINE void add_row(word *row, const word *before, int is_float)
{
    if (is_float) {
        for (int j = 0; j < TILE_COLUMNS; j++)
            row[j] = bits_f32(of_f32(row[j]) + of_f32(before[j]));
    } else {
        for (int j = 0; j < TILE_COLUMNS; j++)
            row[j] += before[j];
    }
}

static void store(const form *f, const target *t, int64_t i, int64_t j,
                  word tile[TILE_ROWS][TILE_COLUMNS])
{
    const gemm_matrix *c = t->c;
    int64_t height = min_i64(t->rows - i, TILE_ROWS), width = min_i64(t->columns - j, TILE_COLUMNS);
    int64_t size = t->to == COLLET_F32 || t->to == COLLET_I32 ? 4 : 2;
    for (int64_t r = 0; r < height; r++) {
        word *sums = t->panel + (i + r) * BLOCK_COLUMNS + j;
        char *out = c->at + ((t->i + i + r) * c->row + (t->j + j) * c->column) * size;
        if (!t->first)
            add_row(tile[r], sums, f->is_float);
        if (!t->last)
            memcpy(sums, tile[r], sizeof tile[r]);
        else if (size == 4)
            store_words(out, c->column, tile[r], width);
        else
            store_halves(out, c->column, tile[r], width, t->to);
    }
}

/* Computes `rows` rows of a panel, from row `begin` on, from the packed blocks. */
static void block(const form *f, const target *t, int64_t begin, int64_t rows, int64_t steps,
                  const word *a, const word *b)
{
    _Alignas(VECTOR_BYTES) word tile[TILE_ROWS][TILE_COLUMNS];
    for (int64_t j = 0; j < t->columns; j += TILE_COLUMNS) {
        for (int64_t i = 0; i < rows; i += TILE_ROWS) {
            f->tile(tile, a + i * (steps + 1), b + j * steps, steps);
            store(f, t, begin + i, j, tile);
        }
    }
}

static const char *element(const form *f, const gemm_matrix *m, int64_t i, int64_t j)
{
    return m->at + (i * m->row + j * m->column) * f->size;
}

/* Computes one panel of c, over the whole inner axis. Returns a nonzero number if `tile` does not support an
 * element. */
static word panel(const form *f, target *t, const gemm_matrix *a, const gemm_matrix *b,
                  int64_t inner, word *a_block, word *b_block)
{
    int64_t most = BLOCK_STEPS * f->group;
    for (int64_t k = 0; k == 0 || k < inner; k += most) {
        int64_t depth = min_i64(inner - k, most), steps = (depth + f->group - 1) / f->group;
        t->first = k == 0;
        t->last = k + most >= inner;
        if (f->right(b_block, element(f, b, k, t->j), b->column, b->row, t->columns, depth))
            return 1;
        for (int64_t i = 0; i < t->rows; i += BLOCK_ROWS) {
            int64_t rows = min_i64(t->rows - i, BLOCK_ROWS);
            if (f->left(a_block, element(f, a, t->i + i, k), a->row, a->column, rows, depth))
                return 1;
            block(f, t, i, rows, steps, a_block, b_block);
        }
    }
    return 0;
}

#define A_WORDS ((BLOCK_STEPS + 1) * BLOCK_ROWS)
#define B_WORDS (BLOCK_STEPS * BLOCK_COLUMNS)
#define PANEL_WORDS (PANEL_ROWS * BLOCK_COLUMNS)

static word compute(const form *f, target *t, const gemm_matrix *a, const gemm_matrix *b,
                    int64_t rows, int64_t columns, int64_t inner, word *scratch)
{
    /* With one block of the inner axis there are no partial sums. */
    int64_t height = inner <= BLOCK_STEPS * f->group ? rows : PANEL_ROWS;
    t->panel = scratch + A_WORDS + B_WORDS;
    for (t->j = 0; t->j < columns; t->j += BLOCK_COLUMNS) {
        t->columns = min_i64(columns - t->j, BLOCK_COLUMNS);
        for (t->i = 0; t->i < rows; t->i += height) {
            t->rows = min_i64(rows - t->i, height);
            if (panel(f, t, a, b, inner, scratch, scratch + A_WORDS))
                return 1;
        }
    }
    return 0;
}

static void product(const gemm_matrix *c, collet_dtype to, const gemm_matrix *a,
                    const gemm_matrix *b, collet_dtype from, int64_t rows, int64_t columns,
                    int64_t inner, void *scratch)
{
    target t = {.c = c, .to = to};
    const form *f = from == COLLET_I8 ? I8 : from == COLLET_F16 ? &widened_f16 : BF16;
    if (compute(f, &t, a, b, rows, columns, inner, scratch))
        (void)compute(&widened_bf16, &t, a, b, rows, columns, inner, scratch);
}

/* ---- One column of i8 ------------------------------------------------------------------------ */

/* Rows that are read at a time: memory serves several streams faster than one stream. */
#define DOTS 4

#if defined(__AVX2__)

#if defined(__AVX512VNNI__)
#define DOT_BYTES 64
#define FLIPPED 1
#elif defined(__AVX512BW__)
#define DOT_BYTES 32
#define FLIPPED 0
#else
#define DOT_BYTES 16
#define FLIPPED 0
#endif

/* Adds the products of DOT_BYTES elements to the sums. If FLIPPED, 128 is added to the elements of a. */
INLINE words dot_step(words sum, const int8_t *a, const int8_t *b)
{
#if defined(__AVX512VNNI__)
    __m512i x = _mm512_xor_si512(_mm512_loadu_si512(a), _mm512_set1_epi8(-128));
    return (words)_mm512_dpbusd_epi32((__m512i)sum, x, _mm512_loadu_si512(b));
#elif defined(__AVX512BW__)
    __m512i x = _mm512_cvtepi8_epi16(_mm256_loadu_si256((const void *)a));
    __m512i y = _mm512_cvtepi8_epi16(_mm256_loadu_si256((const void *)b));
    return sum + (words)_mm512_madd_epi16(x, y);
#else
    __m256i x = _mm256_cvtepi8_epi16(_mm_loadu_si128((const void *)a));
    __m256i y = _mm256_cvtepi8_epi16(_mm_loadu_si128((const void *)b));
    return sum + (words)_mm256_madd_epi16(x, y);
#endif
}

INLINE void dot_rows(word *out, const int8_t *a, int64_t a_step, const int rows, const int8_t *b,
                     int64_t n)
{
    words sum[DOTS] = {{0}};
    int8_t x[DOT_BYTES] = {0}, y[DOT_BYTES] = {0};
    int64_t k = 0;
    for (; k + DOT_BYTES <= n; k += DOT_BYTES)
        for (int r = 0; r < rows; r++)
            sum[r] = dot_step(sum[r], a + r * a_step + k, b + k);
    memcpy(y, b + k, (size_t)(n - k));
    for (int r = 0; r < rows; r++) {
        memcpy(x, a + r * a_step + k, (size_t)(n - k));
        sum[r] = dot_step(sum[r], x, y);
        out[r] = 0;
        for (int i = 0; i < (int)(sizeof sum[r] / sizeof out[r]); i++)
            out[r] += sum[r][i];
    }
}

#else
#define FLIPPED 0

INLINE void dot_rows(word *out, const int8_t *a, int64_t a_step, const int rows, const int8_t *b,
                     int64_t n)
{
    for (int r = 0; r < rows; r++) {
        out[r] = 0;
        for (int64_t k = 0; k < n; k++)
            out[r] += (word)(a[r * a_step + k] * b[k]);
    }
}

#endif

static void dots_i8(int32_t *out, int64_t out_step, const int8_t *a, int64_t a_step, int64_t rows,
                    const int8_t *b, int64_t n)
{
    word excess = 0, some[DOTS];
    for (int64_t k = 0; k < n && FLIPPED; k++)
        excess += 128u * (word)b[k];
    for (int64_t i = 0; i < rows; i += DOTS) {
        int64_t count = min_i64(rows - i, DOTS);
        if (count == DOTS)
            dot_rows(some, a + i * a_step, a_step, DOTS, b, n);
        for (int64_t r = 0; r < count; r++) {
            if (count < DOTS)
                dot_rows(some + r, a + (i + r) * a_step, a_step, 1, b, n);
            out[(i + r) * out_step] = (int32_t)(some[r] - excess);
        }
    }
}

static int any_subnormal_bf16(const void *at, int64_t n)
{
    const uint16_t *x = at;
    uint16_t any = 0;
    for (int64_t i = 0; i < n; i++)
        any |= (uint16_t)((uint16_t)((x[i] & 0x7fffu) - 1u) < 0x7fu);
    return any;
}

extern const narrow_kernels LEVEL_NAME(narrow);
const narrow_kernels LEVEL_NAME(narrow) = {
    .product = product,
    .scratch_bytes = (A_WORDS + B_WORDS + PANEL_WORDS) * sizeof(word),
    .dots_i8 = dots_i8,
    .any_subnormal_bf16 = any_subnormal_bf16,
};
