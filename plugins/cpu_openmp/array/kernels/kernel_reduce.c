/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/array/reduce.c */
#include "kernel_reduce.h"

#include <string.h>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "cpu_openmp/util/kernel_sums.h"
#include "kernel_columns.h"

/* Adjacent elements are read as this many streams, because processors prefetch each stream. On a Zen 3,
 * sums of 10M floats are 1.6 times as fast as with one stream, sums of 100M floats 1.2 times. */
#define STREAMS 4

/* The elements of each stream: a multiple of `group`. */
INLINE int64_t stream_length(int64_t n, int64_t group)
{
    return n / (STREAMS * group) * group;
}

#define REAL float
#define NAME(x) x##_f32
#define LOAD load_f32
#define TERM(x, center) (x)
#include "kernel_reduce.inc"

#define REAL double
#define NAME(x) x##_f64
#define LOAD load_f64
#define TERM(x, center) (x)
#include "kernel_reduce.inc"

#define SQUARE(x)                                                                                  \
    __extension__({                                                                                \
        __typeof__(x) square_of = (x);                                                             \
        square_of *square_of;                                                                      \
    })

#define REAL float
#define NAME(x) x##_deviation_f32
#define LOAD load_f32
#define CENTERED 1
#define TERM(x, center) SQUARE((x) - (center))
#include "kernel_reduce.inc"

#define REAL double
#define NAME(x) x##_deviation_f64
#define LOAD load_f64
#define CENTERED 1
#define TERM(x, center) SQUARE((x) - (center))
#include "kernel_reduce.inc"

/* ---- Sums of f32 that become f32 ------------------------------------------------------------- */

/* The sum of eight vectors, `step` bytes apart; each term passes through three roundings in f32. */
INLINE floats narrow_tree(const char *in, int64_t step)
{
    return ((floats_at(in) + floats_at(in + step)) +
            (floats_at(in + 2 * step) + floats_at(in + 3 * step))) +
           ((floats_at(in + 4 * step) + floats_at(in + 5 * step)) +
            (floats_at(in + 6 * step) + floats_at(in + 7 * step)));
}

static void run_narrow(double *sum, double *lost, const char *in, int64_t step, int64_t n,
                       const reduce_about *about)
{
    enum { STEP = sizeof(float), GROUP = TREE * LANES_F32 };
    double total = *sum, rest = *lost;
    int64_t i = 0;
    if (step == STEP && n >= GROUP) {
        lanes sums = {0.0}, losses = {0.0};
        int64_t length = stream_length(n, GROUP);
        for (; i < length; i += GROUP) {
            lanes even = {0.0}, odd = {0.0};
#pragma GCC unroll 4
            for (int k = 0; k < STREAMS; k++) {
                floats t = narrow_tree(in + (i + k * length) * STEP, VECTOR_BYTES);
                even += low_half(t);
                odd += high_half(t);
            }
            even += odd;
            ADD(sums, losses, even);
        }
        for (i *= STREAMS; i + GROUP <= n; i += GROUP) {
            floats t = narrow_tree(in + i * STEP, VECTOR_BYTES);
            lanes both = low_half(t) + high_half(t);
            ADD(sums, losses, both);
        }
        for (int j = 0; j < LANES_F64; j++) {
            ADD(total, rest, sums[j]);
            rest += losses[j];
        }
    }
    *sum = total;
    *lost = rest;
    run_f32(sum, lost, in + i * step, step, n - i, about);
}

/* The distances from a center that is the sum of two floats: x - high is exact near the center, so that each
 * distance has at most two roundings relative to itself. */
INLINE floats narrow_distances(const char *in, floats high, floats low)
{
    return (floats_at(in) - high) - low;
}

static void run_deviation_narrow(double *sum, double *lost, const char *in, int64_t step, int64_t n,
                                 const reduce_about *about)
{
    enum { STEP = sizeof(float), GROUP = 4 * LANES_F32 };
    double total = *sum, rest = *lost;
    int64_t i = 0;
    if (step == STEP && n >= GROUP) {
        float center = (float)*about->center, more = (float)(*about->center - (double)center);
        floats high = (floats){0.0f} + center, low = (floats){0.0f} + more;
        lanes even = {0.0}, odd = {0.0};
        for (; i + GROUP <= n; i += GROUP) {
            const char *at = in + i * STEP;
            floats a = narrow_distances(at, high, low);
            floats b = narrow_distances(at + VECTOR_BYTES, high, low);
            floats c = narrow_distances(at + 2 * VECTOR_BYTES, high, low);
            floats d = narrow_distances(at + 3 * VECTOR_BYTES, high, low);
            floats squares = (a * a + b * b) + (c * c + d * d);
            even += low_half(squares);
            odd += high_half(squares);
        }
        even += odd;
        for (int j = 0; j < LANES_F64; j++)
            ADD(total, rest, even[j]);
    }
    *sum = total;
    *lost = rest;
    run_deviation_f32(sum, lost, in + i * step, step, n - i, about);
}

/* Adds to the sums of LANES_F64 columns. */
INLINE void add_columns(double *sum, double *lost, lanes t)
{
    lanes s = load_f64((const char *)sum), l = load_f64((const char *)lost);
    ADD(s, l, t);
    *(lanes_at_any *)(void *)sum = s;
    *(lanes_at_any *)(void *)lost = l;
}

static void columns_narrow(double *sum, double *lost, const char *in, int64_t row_step,
                           int64_t column_step, int64_t rows, int64_t columns,
                           const reduce_about *about)
{
    enum { STEP = sizeof(float), GROUP = 2 * TREE };
    int64_t i = 0;
    for (; column_step == STEP && i + GROUP <= rows; i += GROUP, in += GROUP * row_step) {
        ahead next = {in + GROUP * row_step, 0};
        const char *half = in + TREE * row_step;
        int64_t j = 0;
        for (; j + LANES_F32 <= columns; j += LANES_F32) {
            if (j % STRIP == 0 && j + STRIP <= columns && i + GROUP < rows) {
                prefetch_next(&next, row_step, STEP, columns);
                prefetch_next(&next, row_step, STEP, columns);
            }
            floats a = narrow_tree(in + j * STEP, row_step);
            floats b = narrow_tree(half + j * STEP, row_step);
            add_columns(sum + j, lost + j, low_half(a) + low_half(b));
            add_columns(sum + j + LANES_F64, lost + j + LANES_F64, high_half(a) + high_half(b));
        }
        for (; j < columns; j++)
            ADD(sum[j], lost[j],
                tree_f32(in + j * STEP, row_step, 0.0) + tree_f32(half + j * STEP, row_step, 0.0));
    }
    columns_f32(sum, lost, in, row_step, column_step, rows - i, columns, about);
}

/* ---- Other reductions ------------------------------------------------------------------------ */

/*
 * The smaller of a and b. If they are equal, or one of them is NaN, x is b and y is a. Then x | y has the
 * right bits: the number itself; -0 if one of two zeros is -0; or a NaN.
 */
INLINE float less_f32(float a, float b)
{
    float x = a < b ? a : b, y = b < a ? b : a;
    uint32_t p, q;
    memcpy(&p, &x, sizeof p);
    memcpy(&q, &y, sizeof q);
    p |= q;
    memcpy(&x, &p, sizeof x);
    return x;
}

INLINE double less_f64(double a, double b)
{
    double x = a < b ? a : b, y = b < a ? b : a;
    uint64_t p, q;
    memcpy(&p, &x, sizeof p);
    memcpy(&q, &y, sizeof q);
    p |= q;
    memcpy(&x, &p, sizeof x);
    return x;
}

/* a < b ? a : b for the elements of two vectors: b where they are equal or one of them is NaN. The smaller elements are
 * the `or` of MIN(a, b) and MIN(b, a), as in less_f32. */
typedef int32_t ints __attribute__((vector_size(VECTOR_BYTES)));
typedef int64_t longs __attribute__((vector_size(VECTOR_BYTES)));
#if defined(__AVX512F__)
#define MIN_F32(a, b) ((ints)_mm512_min_ps((__m512)(a), (__m512)(b)))
#define MIN_F64(a, b) ((longs)_mm512_min_pd((__m512d)(a), (__m512d)(b)))
#elif defined(__AVX2__)
#define MIN_F32(a, b) ((ints)_mm256_min_ps((__m256)(a), (__m256)(b)))
#define MIN_F64(a, b) ((longs)_mm256_min_pd((__m256d)(a), (__m256d)(b)))
#elif defined(__SSE2__)
#define MIN_F32(a, b) ((ints)_mm_min_ps((__m128)(a), (__m128)(b)))
#define MIN_F64(a, b) ((longs)_mm_min_pd((__m128d)(a), (__m128d)(b)))
#else
INLINE ints MIN_F32(ints a, ints b)
{
    ints less = (floats)a < (floats)b;
    return (a & less) | (b & ~less);
}
INLINE longs MIN_F64(longs a, longs b)
{
    longs less = (lanes)a < (lanes)b;
    return (a & less) | (b & ~less);
}
#endif

/* Replaces NaN by infinity, the minimum of no elements, if `bits` is set. */
#define WITHOUT_NAN(REAL, x, bits)                                                                       \
    (!(bits) || (x) < (REAL)__builtin_inf() ? (x) : (REAL)__builtin_inf())

#define WORD double

#define NAME(x) x##_product_f32
#define ELEMENT float
#define PART double
#define LANE double
#define OF(x) ((double)*(const float *)(const void *)(x))
#define JOIN_PARTS(a, b) ((a) * (b))
#define JOIN_LANES(a, b) ((a) * (b))
#define JOIN(w, x) ((w) * (x))
#define NOTHING 1.0
#include "kernel_fold.inc"

#define NAME(x) x##_product_f64
#define ELEMENT double
#define PART double
#define LANE double
#define OF(x) ((double)*(const double *)(const void *)(x))
#define JOIN_PARTS(a, b) ((a) * (b))
#define JOIN_LANES(a, b) ((a) * (b))
#define JOIN(w, x) ((w) * (x))
#define NOTHING 1.0
#include "kernel_fold.inc"

#define NAME(x) x##_min_f32
#define ELEMENT float
#define PART float
#define LANE float
#define OF(x) WITHOUT_NAN(float, *(const float *)(const void *)(x), about->bits)
#define JOIN_PARTS(a, b) less_f32(a, b)
#define JOIN_LANES(a, b) less_f32(a, b)
#define JOIN(w, x) (less_f64((w), (double)(x)))
#define NOTHING ((float)__builtin_inf())
#define EXTREME
#include "kernel_fold.inc"

#define NAME(x) x##_min_f32
#define REAL float
#define WORDS ints
#define MIN(a, b) MIN_F32(a, b)
#define FLIPPED 0
#define JOIN(w, x) (less_f64((w), (double)(x)))
#include "kernel_extreme.inc"

#define NAME(x) x##_min_f64
#define ELEMENT double
#define PART double
#define LANE double
#define OF(x) WITHOUT_NAN(double, *(const double *)(const void *)(x), about->bits)
#define JOIN_PARTS(a, b) less_f64(a, b)
#define JOIN_LANES(a, b) less_f64(a, b)
#define JOIN(w, x) (less_f64((w), (double)(x)))
#define NOTHING ((double)__builtin_inf())
#define EXTREME
#include "kernel_fold.inc"

#define NAME(x) x##_min_f64
#define REAL double
#define WORDS longs
#define MIN(a, b) MIN_F64(a, b)
#define FLIPPED 0
#define JOIN(w, x) (less_f64((w), (double)(x)))
#include "kernel_extreme.inc"

/* max(x) = -min(-x). */
#define NAME(x) x##_max_f32
#define ELEMENT float
#define PART float
#define LANE float
#define OF(x) WITHOUT_NAN(float, -*(const float *)(const void *)(x), about->bits)
#define JOIN_PARTS(a, b) less_f32(a, b)
#define JOIN_LANES(a, b) less_f32(a, b)
#define JOIN(w, x) (-less_f64(-(w), (double)(x)))
#define NOTHING ((float)__builtin_inf())
#define EXTREME
#include "kernel_fold.inc"

#define NAME(x) x##_max_f32
#define REAL float
#define WORDS ints
#define MIN(a, b) MIN_F32(a, b)
#define FLIPPED INT32_MIN
#define JOIN(w, x) (-less_f64(-(w), (double)(x)))
#include "kernel_extreme.inc"

#define NAME(x) x##_max_f64
#define ELEMENT double
#define PART double
#define LANE double
#define OF(x) WITHOUT_NAN(double, -*(const double *)(const void *)(x), about->bits)
#define JOIN_PARTS(a, b) less_f64(a, b)
#define JOIN_LANES(a, b) less_f64(a, b)
#define JOIN(w, x) (-less_f64(-(w), (double)(x)))
#define NOTHING ((double)__builtin_inf())
#define EXTREME
#include "kernel_fold.inc"

#define NAME(x) x##_max_f64
#define REAL double
#define WORDS longs
#define MIN(a, b) MIN_F64(a, b)
#define FLIPPED INT64_MIN
#define JOIN(w, x) (-less_f64(-(w), (double)(x)))
#include "kernel_extreme.inc"

/* ---- Places of extremes --------------------------------------------------------------------- */

/* A bit for each byte of a mask from a comparison of vectors. */
typedef int8_t bytes __attribute__((vector_size(VECTOR_BYTES)));
INLINE uint64_t bits_of(bytes mask)
{
#if defined(__AVX512BW__)
    return _mm512_movepi8_mask((__m512i)mask);
#elif defined(__AVX2__)
    return (uint32_t)_mm256_movemask_epi8((__m256i)mask);
#elif defined(__SSE2__)
    return (uint32_t)_mm_movemask_epi8((__m128i)mask);
#else
    uint64_t bits = 0;
    for (int i = 0; i < VECTOR_BYTES; i++)
        bits |= (uint64_t)(mask[i] & 1) << i;
    return bits;
#endif
}

/* Compares groups of VECTOR_BYTES elements. The first group that has the element is then searched vector by
 * vector. */
#define SKIP(TYPE, WORD, GROUP)                                                                    \
    for (; i + (GROUP) <= n; i += (GROUP)) {                                                       \
        WORD found = 0;                                                                            \
        _Pragma("GCC unroll 1") for (int k = 0; k < (int)(GROUP); k++)                             \
            found |= a[i + k] == x ? (WORD)1 : (WORD)0;                                            \
        if (found)                                                                                 \
            break;                                                                                 \
    }
#define FIRST(name, TYPE, WORD, value)                                                             \
    static int64_t first_##name(const char *in, int64_t n, double number, int64_t word)            \
    {                                                                                              \
        const TYPE *a = (const void *)in, x = (TYPE)(value);                                       \
        int64_t i = 0;                                                                             \
        (void)number, (void)word;                                                                  \
        SKIP(TYPE, WORD, (int64_t)VECTOR_BYTES)                                                    \
        typedef TYPE vector __attribute__((vector_size(VECTOR_BYTES)));                            \
        for (; i + VECTOR_BYTES / (int64_t)sizeof(TYPE) <= n;                                      \
             i += VECTOR_BYTES / (int64_t)sizeof(TYPE)) {                                          \
            vector y;                                                                              \
            memcpy(&y, a + i, sizeof y);                                                           \
            uint64_t found = bits_of((bytes)(y == x));                                             \
            if (found)                                                                             \
                return i + __builtin_ctzll(found) / (int64_t)sizeof(TYPE);                         \
        }                                                                                          \
        while (i < n && a[i] != x)                                                                 \
            i++;                                                                                   \
        return i;                                                                                  \
    }
FIRST(f32, float, int32_t, number)
FIRST(f64, double, int64_t, number)
FIRST(8, int8_t, uint8_t, word)
FIRST(16, int16_t, uint16_t, word)
FIRST(32, int32_t, uint32_t, word)
FIRST(64, int64_t, uint64_t, word)

#define TILE 256
#define PLACES(name, TYPE, INDEX, KEY)                                                             \
    static void places_##name(char *out, int64_t out_step, const char *in, int64_t row_step,       \
                              int64_t rows, int64_t columns, int greatest, uint64_t flipped)       \
    {                                                                                              \
        const TYPE sign = greatest ? (TYPE)-1 : (TYPE)1, bits = (TYPE)flipped;                     \
        TYPE best[TILE];                                                                           \
        INDEX place[TILE];                                                                         \
        (void)sign, (void)bits;                                                                    \
        for (int64_t first = 0; first < columns; first += TILE) {                                  \
            int64_t width = columns - first < TILE ? columns - first : TILE;                       \
            const TYPE *row = (const TYPE *)(const void *)in + first;                              \
            for (int64_t k = 0; k < width; k++) {                                                  \
                best[k] = KEY(row[k]);                                                             \
                place[k] = 0;                                                                      \
            }                                                                                      \
            for (int64_t i = 1; i < rows; i++) {                                                   \
                row = (const void *)((const char *)row + row_step);                                \
                for (int64_t k = 0; k < width; k++) {                                              \
                    TYPE x = KEY(row[k]), y = best[k];                                             \
                    int better = (x < y) | ((x != x) & (y == y));                                  \
                    place[k] = better ? (INDEX)i : place[k];                                       \
                    best[k] = better ? x : y;                                                      \
                }                                                                                  \
            }                                                                                      \
            for (int64_t k = 0; k < width; k++)                                                    \
                *(int64_t *)(void *)(out + (first + k) * out_step) = place[k];                     \
        }                                                                                          \
    }
#define SIGNED(x) (sign * (x))
#define TURNED(x) ((x) ^ bits)
PLACES(f32, float, int32_t, SIGNED)
PLACES(f64, double, int64_t, SIGNED)
PLACES(i32, int32_t, int32_t, TURNED)
PLACES(i64, int64_t, int64_t, TURNED)

extern const reduce_kernels LEVEL_NAME(reduce);
const reduce_kernels LEVEL_NAME(reduce) = {
    .sum = {{run_f32, columns_f32}, {run_f64, columns_f64}},
    .narrow_sum = {run_narrow, columns_narrow},
    .narrow_deviation = {run_deviation_narrow, columns_deviation_f32},
    .deviation = {{run_deviation_f32, columns_deviation_f32},
                  {run_deviation_f64, columns_deviation_f64}},
    .product = {{run_product_f32, columns_product_f32}, {run_product_f64, columns_product_f64}},
    .min = {{run_min_f32, columns_min_f32}, {run_min_f64, columns_min_f64}},
    .max = {{run_max_f32, columns_max_f32}, {run_max_f64, columns_max_f64}},
    .place = {.begin = {{begin_min_f32, begin_min_f64}, {begin_max_f32, begin_max_f64}},
              .first_real = {first_f32, first_f64},
              .first_word = {first_8, first_16, first_32, first_64},
              .columns = {[COLLET_F32] = places_f32,
                          [COLLET_F64] = places_f64,
                          [COLLET_I32] = places_i32,
                          [COLLET_U32] = places_i32,
                          [COLLET_I64] = places_i64,
                          [COLLET_U64] = places_i64}},
};
