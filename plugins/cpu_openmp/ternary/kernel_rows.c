/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/ternary/ternary.c */
#include "kernel_ternary.h"

#include <math.h>
#include <string.h>

#include "cpu_openmp/util/kernel_functions.h"
#include "kernel_lanes.h"

#define FINITE_BELOW 0x7f800000u
#define MAGNITUDE 0x7fffffffu
/* For |x| < 2^22, the lowest bits of x + ROUNDER are x rounded to the nearest integer, ties to even. */
#define ROUNDER 0x1.8p23f

#define GROUP LANES_F32

INLINE floats load_floats(const float *at)
{
    return (floats) * (const floats_at_any *)(const void *)at;
}

INLINE floats splat(float x)
{
    return x - (floats){0};
}

/* ---- Activations ----------------------------------------------------------------------------- */

static int32_t sum_i8(const int8_t *at, int64_t n)
{
    int32_t sum = 0;
    int64_t i = 0;
    words total = {0};
    /* A sum of products with u = 1. */
    for (; i + VECTOR_BYTES <= n; i += VECTOR_BYTES)
        total =
            products_sum(total, products_add((products){0}, (bytes){0} + 1, load_bytes(at + i)));
    for (; i < n; i++)
        sum += at[i];
    return sum + across_words(total);
}

/* The maximum of numbers that are not negative. */
INLINE words greater_of(words a, words b)
{
    words above = a > b;
    return (a & above) | (b & ~above);
}

/* Processes four vectors at a time, to hide latency. */
static uint32_t greatest(uint32_t so_far, const float *x, int64_t n)
{
    words most[4] = {{0}};
    int64_t i = 0;
    for (; i + 4 * GROUP <= n; i += 4 * GROUP) {
#pragma GCC unroll 4
        for (int k = 0; k < 4; k++)
            most[k] =
                greater_of((words)load_floats(x + i + k * GROUP) & (int32_t)MAGNITUDE, most[k]);
    }
    most[0] = greater_of(greater_of(most[0], most[1]), greater_of(most[2], most[3]));
    for (int k = 0; k < GROUP; k++)
        so_far = (uint32_t)most[0][k] > so_far ? (uint32_t)most[0][k] : so_far;
    for (; i < n; i++) {
        uint32_t magnitude = bits_f32(x[i]) & MAGNITUDE;
        so_far = magnitude > so_far ? magnitude : so_far;
    }
    return so_far;
}

/* Stores the lowest byte of each lane at `out`. */
INLINE void store_lowest(int8_t *out, words x)
{
#if defined(__AVX512BW__)
    _mm_storeu_si128((__m128i *)(void *)out, _mm512_cvtepi32_epi8((__m512i)x));
#elif defined(__AVX2__)
    const __m256i lowest =
        _mm256_setr_epi8(0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 4, 8, 12,
                         -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
    __m256i part = _mm256_shuffle_epi8((__m256i)x, lowest);
    __m128i both =
        _mm_unpacklo_epi32(_mm256_castsi256_si128(part), _mm256_extracti128_si256(part, 1));
    _mm_storel_epi64((__m128i *)(void *)out, both);
#else
    typedef int8_t narrow __attribute__((vector_size(LANES_F32)));
    narrow part = __builtin_convertvector(x, narrow);
    memcpy(out, &part, sizeof part);
#endif
}

static int32_t to_i8(int8_t *q, const float *x, float r, int64_t n)
{
    int32_t sum = 0;
    int64_t i = 0;
    words total = {0};
    for (; i + GROUP <= n; i += GROUP) {
        floats scaled = load_floats(x + i) * splat(r);
        words whole = (words)(scaled + splat(ROUNDER)) - (words)splat(ROUNDER);
        store_lowest(q + i, whole);
        total += whole;
    }
    for (; i < n; i++) {
        float scaled = x[i] * r, rounded = scaled + ROUNDER;
        int32_t whole = (int32_t)(bits_f32(rounded) - bits_f32(ROUNDER));
        q[i] = (int8_t)whole;
        sum += whole;
    }
    return sum + across_words(total);
}

static uint32_t masks(uint8_t *masks, const uint8_t *in, int64_t blocks)
{
    quads sum = {0};
    for (int64_t i = 0; i < blocks * PIECES; i++) {
        bytes a = load_bytes(in + i * VECTOR_BYTES), higher = (bytes)((ushorts)a >> 1);
        bytes nonzero = ~a & 0x55, minus = ~(a | higher) & 0x55;
        uint8_t *out = masks + i / PIECES * TERNARY_MASK_BYTES + i % PIECES * VECTOR_BYTES;
        store_bytes(out, minus * 3);
        store_bytes(out + 64, nonzero * 3);
        /* 1 for a = 1, 2 for a = -1 */
        sum = counts_sum(sum, counts_add((counts){0}, nonzero + minus));
    }
    return (uint32_t)across_quads(sum);
}

/* ---- Codes ----------------------------------------------------------------------------------- */

static int64_t codes_f32(int8_t *codes, const void *values, double t, int64_t n)
{
    const float *x = values;
    const float threshold = (float)t;
    int64_t nonfinite = 0, i = 0;
    for (; i + GROUP <= n; i += GROUP) {
        floats v = load_floats(x + i);
        store_lowest(codes + i, (words)(v < splat(-threshold)) - (words)(v > splat(threshold)));
    }
    for (; i < n; i++)
        codes[i] = (int8_t)((x[i] > threshold) - (x[i] < -threshold));
    for (i = 0; i < n; i++)
        nonfinite += (bits_f32(x[i]) & MAGNITUDE) >= FINITE_BELOW;
    return nonfinite;
}

static int64_t codes_f64(int8_t *codes, const void *values, double t, int64_t n)
{
    const double *x = values;
    int64_t nonfinite = 0;
    for (int64_t i = 0; i < n; i++) {
        codes[i] = (int8_t)((x[i] > t) - (x[i] < -t));
        /* x - x is NaN if x is not finite. */
        nonfinite += x[i] - x[i] != 0;
    }
    return nonfinite;
}

static double magnitudes_f32(const void *values, int64_t n)
{
    const float *x = values;
    lanes sum[4] = {{0}};
    double rest = 0;
    int64_t i = 0;
    for (; i + 4 * GROUP <= n; i += 4 * GROUP) {
#pragma GCC unroll 4
        for (int k = 0; k < 4; k++)
            sum[k] +=
                widen_floats((floats)((words)load_floats(x + i + k * GROUP) & (int32_t)MAGNITUDE));
    }
    for (; i < n; i++)
        rest += (double)__builtin_fabsf(x[i]);
    return across((sum[0] + sum[1]) + (sum[2] + sum[3])) + rest;
}

static double magnitudes_f64(const void *values, int64_t n)
{
    const double *x = values;
    double sum[16] = {0};
    int64_t i = 0;
    for (; i + 16 <= n; i += 16) {
        for (int k = 0; k < 16; k++)
            sum[k] += __builtin_fabs(x[i + k]);
    }
    for (; i < n; i++)
        sum[0] += __builtin_fabs(x[i]);
    for (int half = 8; half > 0; half /= 2) {
        for (int k = 0; k < half; k++)
            sum[k] += sum[k + half];
    }
    return sum[0];
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

/* Counts the bytes that are 0xff in the masks of comparisons; tally_add adds one register. */
typedef struct tally {
    bytes part;
    int64_t registers;
    quads sum;
} tally;

INLINE quads sum_of_bytes(quads sum, bytes x)
{
    typedef uint64_t uquads __attribute__((vector_size(VECTOR_BYTES)));
    ushorts pairs = ((ushorts)x & 255) + ((ushorts)x >> 8);
    uquads q = (uquads)pairs;
    q = (q & 0x0000ffff0000ffffu) + (q >> 16 & 0x0000ffff0000ffffu);
    return sum + (quads)((q & 0xffffffffu) + (q >> 32));
}

INLINE void tally_add(tally *t, bytes mask)
{
    t->part -= mask;
    if (++t->registers == 255) {
        t->sum = sum_of_bytes(t->sum, t->part);
        t->part = (bytes){0};
        t->registers = 0;
    }
}

INLINE int64_t tally_total(const tally *t)
{
    return across_quads(sum_of_bytes(t->sum, t->part));
}

static int64_t pack(uint8_t *out, const int8_t *codes, int64_t blocks)
{
    tally wrong = {.registers = 0};
    for (int64_t i = 0; i < blocks * PIECES; i++) {
        const int8_t *at = codes + i / PIECES * TERNARY_BLOCK + i % PIECES * VECTOR_BYTES;
        bytes packed = {0};
#pragma GCC unroll 4
        for (int l = 0; l < 4; l++) {
            bytes number = load_bytes(at + 64 * l) + 1;
            bytes none = (bytes)(number > 2);
            number = (number & ~none) | (none & 1);
            packed |= (bytes)((ushorts)number << 2 * l);
            tally_add(&wrong, none);
        }
        store_bytes(out + i * VECTOR_BYTES, packed);
    }
    return tally_total(&wrong);
}

static int64_t unpack(int8_t *codes, const uint8_t *in, int64_t blocks)
{
    tally wrong = {.registers = 0};
    for (int64_t i = 0; i < blocks * PIECES; i++) {
        int8_t *at = codes + i / PIECES * TERNARY_BLOCK + i % PIECES * VECTOR_BYTES;
        bytes packed = load_bytes(in + i * VECTOR_BYTES);
#pragma GCC unroll 4
        for (int l = 0; l < 4; l++) {
            bytes number = field(packed, l), none = (bytes)(number == 3);
            store_bytes(at + 64 * l, (number - 1) & ~none);
            tally_add(&wrong, none);
        }
    }
    return tally_total(&wrong);
}

/* ---- Results --------------------------------------------------------------------------------- */

typedef int32_t sum_at_any __attribute__((may_alias));

/* y = value(i) factor(i) + bias(i), each operation rounded. */
INLINE void finish_all(float *y, const sum_at_any *sums, const float *values,
                       const ternary_finish *how, int64_t n, int has_scale, int scaled,
                       int has_bias)
{
    const float *scales = how->scales, *biases = how->biases;
    const float scale = how->scale;
    const uint32_t base = how->base;
    const float limit = how->relu ? 0.0f : -INFINITY;
    INDEPENDENT
    for (int64_t i = 0; i < n; i++) {
        float value = values ? values[i] : (float)(int32_t)((uint32_t)sums[i] - base);
        if (has_scale && scaled)
            value *= scale * scales[i];
        else if (has_scale)
            value *= scales[i];
        else if (scaled)
            value *= scale;
        if (has_bias)
            value += biases[i];
        y[i] = value < limit ? 0.0f : value;
    }
}

INLINE void finish(float *y, const sum_at_any *sums, const float *values, const ternary_finish *how,
                   int64_t n, int scaled)
{
    if (how->scales && how->biases)
        finish_all(y, sums, values, how, n, 1, scaled, 1);
    else if (how->scales)
        finish_all(y, sums, values, how, n, 1, scaled, 0);
    else if (how->biases)
        finish_all(y, sums, values, how, n, 0, scaled, 1);
    else
        finish_all(y, sums, values, how, n, 0, scaled, 0);
}

static void finish_i8(float *y, const void *sums, const ternary_finish *how, int64_t n)
{
    finish(y, sums, NULL, how, n, 1);
}

static void finish_packed(float *y, const void *sums, const ternary_finish *how, int64_t n)
{
    finish(y, sums, NULL, how, n, 0);
}

static void finish_f32(float *y, const void *sums, const ternary_finish *how, int64_t n)
{
    finish(y, NULL, sums, how, n, 0);
}

extern const ternary_rows LEVEL_NAME(ternary_rows);
const ternary_rows LEVEL_NAME(ternary_rows) = {
    .sum_i8 = sum_i8,
    .greatest = greatest,
    .to_i8 = to_i8,
    .codes = {codes_f32, codes_f64},
    .magnitudes = {magnitudes_f32, magnitudes_f64},
    .pack = pack,
    .unpack = unpack,
    .masks = masks,
    .finish = {finish_i8, finish_packed, finish_f32},
};
