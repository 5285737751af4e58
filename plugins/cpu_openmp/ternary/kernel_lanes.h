/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_lanes.h - vector operations of the products in kernel_product.c.
 *
 * products     Partial sums of products u a over at most PRODUCT_BLOCKS blocks. products_add adds the
 *              products of a register of u (0, 1, 2) and a register of a (i8). products_sum adds the
 *              partial sums to sums of 32 bits.
 * counts       Partial sums of 2-bit numbers over at most COUNT_BLOCKS blocks. counts_add adds a
 *              register with four such numbers per byte; counts_add_two adds two such registers.
 *              counts_sum adds the partial sums to sums of 64 bits.
 */
#pragma once

#include "cpu_openmp/util/kernel_sums.h"

#if defined(__SSSE3__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

typedef uint8_t bytes __attribute__((vector_size(VECTOR_BYTES), may_alias));
typedef uint8_t bytes_at_any __attribute__((vector_size(VECTOR_BYTES), aligned(1), may_alias));
typedef int16_t shorts __attribute__((vector_size(VECTOR_BYTES), may_alias));
typedef uint16_t ushorts __attribute__((vector_size(VECTOR_BYTES), may_alias));
typedef int32_t words __attribute__((vector_size(VECTOR_BYTES), may_alias));
typedef int64_t quads __attribute__((vector_size(VECTOR_BYTES), may_alias));

/* Registers of a block's 64 bytes. */
#define PIECES (64 / VECTOR_BYTES)

INLINE bytes load_bytes(const void *at)
{
    return (bytes) * (const bytes_at_any *)at;
}

/* With 32 registers the compiler makes bad choices: it loads some values again for each product, and keeps
 * in registers other values that it should load again. IN_REGISTER(x) keeps x in a register;
 * LOADED_ANEW(pointer) makes the compiler load the values at the pointer again. */
#if defined(__AVX512F__)
#define IN_REGISTER(x) __asm__("" : "+v"(x))
#define LOADED_ANEW(pointer) __asm__("" : "+r"(pointer))
#else
#define IN_REGISTER(x) ((void)(x))
#define LOADED_ANEW(pointer) ((void)(pointer))
#endif

INLINE void store_bytes(void *at, bytes x)
{
    *(bytes_at_any *)at = (bytes_at_any)x;
}

/* The 2-bit number l of each byte. */
INLINE bytes field(bytes x, int l)
{
    return (bytes)((ushorts)x >> 2 * l) & 3;
}

/* The same number, but not shifted to the low bits, so it is 4^l times as large. */
INLINE bytes field_in_place(bytes x, int l)
{
    return x & ((bytes){0} + (uint8_t)(3 << 2 * l));
}

INLINE int32_t across_words(words x)
{
#if defined(__SSSE3__)
#if VECTOR_BYTES == 64
    __m256i half = _mm256_add_epi32(_mm512_castsi512_si256((__m512i)x),
                                    _mm512_extracti64x4_epi64((__m512i)x, 1));
    __m128i s = _mm_add_epi32(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
#elif VECTOR_BYTES == 32
    __m128i s =
        _mm_add_epi32(_mm256_castsi256_si128((__m256i)x), _mm256_extracti128_si256((__m256i)x, 1));
#else
    __m128i s = (__m128i)x;
#endif
    s = _mm_add_epi32(s, _mm_shuffle_epi32(s, 0x4e));
    return _mm_cvtsi128_si32(_mm_add_epi32(s, _mm_shuffle_epi32(s, 0xb1)));
#elif defined(__aarch64__)
    return vaddvq_s32((int32x4_t)x);
#else
    uint32_t sum = 0;
    for (int i = 0; i < VECTOR_BYTES / 4; i++)
        sum += (uint32_t)x[i];
    return (int32_t)sum;
#endif
}

/* Stores the sums of the lanes of a, b, c and d at out[0 .. 3]. */
INLINE void across_four_words(int32_t *out, words a, words b, words c, words d)
{
#if VECTOR_BYTES == 64
    __m512i ab = _mm512_add_epi32(_mm512_unpacklo_epi32((__m512i)a, (__m512i)b),
                                  _mm512_unpackhi_epi32((__m512i)a, (__m512i)b));
    __m512i cd = _mm512_add_epi32(_mm512_unpacklo_epi32((__m512i)c, (__m512i)d),
                                  _mm512_unpackhi_epi32((__m512i)c, (__m512i)d));
    __m512i all = _mm512_add_epi32(_mm512_unpacklo_epi64(ab, cd), _mm512_unpackhi_epi64(ab, cd));
    __m256i half = _mm256_add_epi32(_mm512_castsi512_si256(all), _mm512_extracti64x4_epi64(all, 1));
    _mm_storeu_si128((__m128i *)(void *)out, _mm_add_epi32(_mm256_castsi256_si128(half),
                                                           _mm256_extracti128_si256(half, 1)));
#else
    out[0] = across_words(a);
    out[1] = across_words(b);
    out[2] = across_words(c);
    out[3] = across_words(d);
#endif
}

INLINE int64_t across_quads(quads x)
{
    int64_t sum = 0;
    for (int i = 0; i < VECTOR_BYTES / 8; i++)
        sum += x[i];
    return sum;
}

/* ---- Products -------------------------------------------------------------------------------- */

#if defined(__AVX512VNNI__)

/* Lanes of 32 bits wrap around like the sums, so there is no limit. Fields in place are up to 64 times too large, and
 * their sums must be divided: with PLACED_BLOCKS blocks they stay below 2^31. */
#define PRODUCT_BLOCKS INT64_MAX
#define PLACED_BLOCKS 16384
typedef words products;

INLINE products products_add(products p, bytes u, bytes a)
{
    return (products)_mm512_dpbusd_epi32((__m512i)p, (__m512i)u, (__m512i)a);
}

INLINE words products_sum(words sum, products p)
{
    return sum + p;
}

#else

/* A 16-bit lane gets two products, together at most 512, for each of the four fields of each register. */
#define PRODUCT_BLOCKS (32767 / (512 * 4 * PIECES))
typedef shorts products;

INLINE products products_add(products p, bytes u, bytes a)
{
#if defined(__AVX512BW__)
    return p + (products)_mm512_maddubs_epi16((__m512i)u, (__m512i)a);
#elif defined(__AVX2__)
    return p + (products)_mm256_maddubs_epi16((__m256i)u, (__m256i)a);
#elif defined(__SSSE3__)
    return p + (products)_mm_maddubs_epi16((__m128i)u, (__m128i)a);
#elif defined(__aarch64__)
    int16x8_t low = vmlal_s8((int16x8_t)p, vget_low_s8((int8x16_t)u), vget_low_s8((int8x16_t)a));
    return (products)vmlal_high_s8(low, (int8x16_t)u, (int8x16_t)a);
#else
    shorts even = ((shorts)a << 8) >> 8, odd = (shorts)a >> 8;
    return p + even * ((shorts)u & 255) + odd * (shorts)((ushorts)u >> 8);
#endif
}

INLINE words products_sum(words sum, products p)
{
#if defined(__AVX512BW__)
    return sum + (words)_mm512_madd_epi16((__m512i)p, _mm512_set1_epi16(1));
#elif defined(__AVX2__)
    return sum + (words)_mm256_madd_epi16((__m256i)p, _mm256_set1_epi16(1));
#elif defined(__SSSE3__)
    return sum + (words)_mm_madd_epi16((__m128i)p, _mm_set1_epi16(1));
#else
    return sum + (((words)p << 16) >> 16) + ((words)p >> 16);
#endif
}

#endif

/* ---- Counts ---------------------------------------------------------------------------------- */

#if defined(__AVX512VPOPCNTDQ__)

#define COUNT_BLOCKS INT64_MAX
typedef quads counts;

INLINE quads bits_set(bytes x)
{
    return (quads)_mm512_popcnt_epi64((__m512i)x);
}

/* A 2-bit number is the count of its set bits, plus 1 if its higher bit is set. */
INLINE counts counts_add(counts c, bytes y)
{
    return c + bits_set(y) + bits_set(y & 0xaa);
}

/* The higher bits of y and z fit into one register. */
INLINE counts counts_add_two(counts c, bytes y, bytes z)
{
    bytes high = (y & 0xaa) | ((bytes)((ushorts)z >> 1) & 0x55);
    return (c + bits_set(y)) + (bits_set(z) + bits_set(high));
}

INLINE quads counts_sum(quads sum, counts c)
{
    return sum + c;
}

#else

/* A call of counts_add adds at most 4 times 3 to a byte. */
#define COUNT_BLOCKS (255 / (12 * PIECES))
typedef bytes counts;

INLINE counts counts_add(counts c, bytes y)
{
#if defined(__SSSE3__)
    bytes low = y & 15, high = (bytes)((ushorts)y >> 4) & 15;
    /* For each half byte: the sum of its two 2-bit numbers. */
    const __m128i sums = _mm_setr_epi8(0, 1, 2, 3, 1, 2, 3, 4, 2, 3, 4, 5, 3, 4, 5, 6);
#if defined(__AVX512BW__)
    __m512i table = _mm512_broadcast_i32x4(sums);
    return c + (bytes)_mm512_shuffle_epi8(table, (__m512i)low) +
           (bytes)_mm512_shuffle_epi8(table, (__m512i)high);
#elif defined(__AVX2__)
    __m256i table = _mm256_broadcastsi128_si256(sums);
    return c + (bytes)_mm256_shuffle_epi8(table, (__m256i)low) +
           (bytes)_mm256_shuffle_epi8(table, (__m256i)high);
#else
    return c + (bytes)_mm_shuffle_epi8(sums, (__m128i)low) +
           (bytes)_mm_shuffle_epi8(sums, (__m128i)high);
#endif
#elif defined(__aarch64__)
    return c + (bytes)vcntq_u8((uint8x16_t)y) + (bytes)vcntq_u8((uint8x16_t)(y & 0xaa));
#else
    bytes pairs = (y & 0x33) + ((bytes)((ushorts)y >> 2) & 0x33);
    return c + (pairs & 15) + ((bytes)((ushorts)pairs >> 4) & 15);
#endif
}

INLINE counts counts_add_two(counts c, bytes y, bytes z)
{
    return counts_add(counts_add(c, y), z);
}

INLINE quads counts_sum(quads sum, counts c)
{
#if defined(__AVX512BW__)
    return sum + (quads)_mm512_sad_epu8((__m512i)c, _mm512_setzero_si512());
#elif defined(__AVX2__)
    return sum + (quads)_mm256_sad_epu8((__m256i)c, _mm256_setzero_si256());
#elif defined(__SSSE3__)
    return sum + (quads)_mm_sad_epu8((__m128i)c, _mm_setzero_si128());
#elif defined(__aarch64__)
    return (quads)vpadalq_u32((uint64x2_t)sum, vpaddlq_u16(vpaddlq_u8((uint8x16_t)c)));
#else
    for (int i = 0; i < VECTOR_BYTES; i++)
        sum[i / 8] += c[i];
    return sum;
#endif
}

#endif

/* ---- Numbers --------------------------------------------------------------------------------- */

typedef float floats __attribute__((vector_size(VECTOR_BYTES), may_alias));
typedef float floats_at_any __attribute__((vector_size(VECTOR_BYTES), aligned(4), may_alias));
typedef float half_floats __attribute__((vector_size(VECTOR_BYTES / 2)));

/* Widens one byte for each lane. */
INLINE words widen_bytes(const uint8_t *at)
{
#if defined(__AVX512BW__)
    return (words)_mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(const void *)at));
#elif defined(__AVX2__)
    return (words)_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)at));
#else
    typedef uint8_t source __attribute__((vector_size(LANES_F32), aligned(1), may_alias));
    return __builtin_convertvector(*(const source *)(const void *)at, words);
#endif
}

/* The weight of field l of each lane, which is the 2-bit number minus 1. Other bits of the lane are ignored. */
INLINE floats weight_field(words x, int l)
{
#if defined(__AVX512BW__)
    const __m512 weights = _mm512_broadcast_f32x4(_mm_setr_ps(-1.0f, 0.0f, 1.0f, 0.0f));
    return (floats)_mm512_permutevar_ps(weights, _mm512_srli_epi32((__m512i)x, 2 * (unsigned)l));
#elif defined(__AVX2__)
    const __m256 weights = _mm256_setr_ps(-1.0f, 0.0f, 1.0f, 0.0f, -1.0f, 0.0f, 1.0f, 0.0f);
    return (floats)_mm256_permutevar_ps(weights, _mm256_srli_epi32((__m256i)x, 2 * l));
#else
    return __builtin_convertvector(((x >> 2 * l) & 3) - 1, floats);
#endif
}

INLINE lanes widen_floats(floats x)
{
#if VECTOR_BYTES == 64
    return (lanes)_mm512_cvtps_pd(_mm512_castps512_ps256((__m512)x)) +
           (lanes)_mm512_cvtps_pd(_mm256_castpd_ps(_mm512_extractf64x4_pd((__m512d)x, 1)));
#elif defined(__AVX2__)
    return (lanes)_mm256_cvtps_pd(_mm256_castps256_ps128((__m256)x)) +
           (lanes)_mm256_cvtps_pd(_mm256_extractf128_ps((__m256)x, 1));
#else
    half_floats part[2];
    __builtin_memcpy(part, &x, sizeof x);
    return __builtin_convertvector(part[0], lanes) + __builtin_convertvector(part[1], lanes);
#endif
}
