/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ternary_beside.h - words that change places, for tokens that lie side by side (ternary.h), and
 * tables of their sums.
 *
 * A table is of two activations of each token, which the weights of half a byte belong to: its
 * entry c + 4 d is c times the one and d times the other, c and d 0, 1 or 2. To load an entry and
 * to add it are two multiplications and sums a lane, in units that idle beside the products where
 * 512 bits are computed in halves. (The method of V. L. Arlazarov, E. A. Dinic, M. A. Kronrod, I.
 * A. Faradzhev, "On economical construction of the transitive closure of a directed graph", Dokl.
 * Akad. Nauk SSSR 194, 1970.)
 */
#ifndef COLLET_OPENMP_KERNELS_TERNARY_BESIDE_H
#define COLLET_OPENMP_KERNELS_TERNARY_BESIDE_H

#include "kernel_ternary.h"
#include "kernel_lanes.h"

#if defined(__AVX512VNNI__)

#define BESIDE_WORDS 16 /* of a register, and tokens whose words it holds */
#define BESIDE_HALVES (TERNARY_BESIDE / BESIDE_WORDS)

/* Words of each 64 bytes that are multiplied where there are tables for the others. */
#define BESIDE_MULTIPLIED 12

/* Tables: one for each half byte of a word. Of the 16 entries the nine that weights lead to are
 * made; invalid codes lead to the others, which hold anything. */
#define BESIDE_TABLES 8
#define BESIDE_ENTRY 64
#define BESIDE_TABLE (16 * BESIDE_ENTRY)

typedef int32_t word_at_any __attribute__((aligned(1), may_alias));

/* The four bytes at `at`, in every word. The compiler would load some with others and move them, in
 * the units that the products need. */
INLINE bytes word_in_all(const uint8_t *at)
{
    words x;
    __asm__("vpbroadcastd %1, %0" : "=v"(x) : "m"(*(const word_at_any *)(const void *)at));
    return (bytes)x;
}

/* The same where `mask` has ones. The compiler would mask one word in another register and fetch it
 * from there, in the units that the products need. */
INLINE bytes masked_in_all(const uint8_t *at, words mask)
{
    words x;
    __asm__("vpandd %1%{1to16%}, %2, %0"
            : "=v"(x)
            : "m"(*(const word_at_any *)(const void *)at), "v"(mask));
    return (bytes)x;
}

/* Within each 16 bytes: word j of x[i] and word i of x[j] change places. */
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

/* Word j of the 64 bytes i and word i of the 64 bytes j, of 16 that lie `step` apart. */
INLINE void transpose_words(char *at, int64_t step)
{
    words x[BESIDE_WORDS];
#pragma GCC unroll 16
    for (int i = 0; i < BESIDE_WORDS; i++)
        x[i] = (words)load_bytes(at + i * step);
#pragma GCC unroll 4
    for (int i = 0; i < BESIDE_WORDS; i += 4)
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

/* Those of the word that goes with field l of block k. */
INLINE const char *tables_of(const char *tables, int64_t k, int l)
{
    return tables + (4 * k + l) * BESIDE_TABLES * BESIDE_TABLE;
}

/* What the weights of a word come to, of every token. */
INLINE shorts looked_up(const char *tables, const uint8_t *word)
{
    uint32_t w;
    shorts sum[2] = {{0}};
    __builtin_memcpy(&w, word, sizeof w);
#pragma GCC unroll 8
    for (int t = 0; t < BESIDE_TABLES; t++, tables += BESIDE_TABLE)
        sum[t % 2] += *(const shorts *)(const void *)(tables + (w >> 4 * t & 15) * BESIDE_ENTRY);
    return sum[0] + sum[1];
}

/* An entry is tokens 0 and 16, 1 and 17, ...: the first of each, then the second. */
INLINE words part_low(shorts x)
{
    return (words)((uwords)x << 16) >> 16;
}

INLINE words part_high(shorts x)
{
    return (words)x >> 16;
}

/* Of the word at `tokens` in each of the 64 bytes of a block. */
INLINE void make_tables(char *tables, const char *tokens, int64_t step)
{
    for (int t = 0; t < BESIDE_TABLES; t++, tables += BESIDE_TABLE) {
        uwords x[2];
        for (int i = 0; i < 2; i++) {
            const char *at = tokens + 64 * (t % 2 * 2 + i);
            words low = (words)((uwords)load_bytes(at) << (24 - t / 2 * 8)) >> 24;
            words high = (words)((uwords)load_bytes(at + BESIDE_WORDS * step) << (24 - t / 2 * 8));
            x[i] = ((uwords)low & 0xffff) | ((uwords)(high >> 24) << 16);
        }
        for (int i = 0; i < 9; i++)
            *(shorts *)(void *)(tables + (i % 3 + i / 3 * 4) * BESIDE_ENTRY) =
                (shorts)x[0] * (int16_t)(i % 3) + (shorts)x[1] * (int16_t)(i / 3);
    }
}

/* Asks for the lines that sums of `rows` rows will be written to. */
INLINE void fetch_sums(const ternary_panel *p, int64_t row, int64_t rows)
{
    const int32_t *sums = (const int32_t *)p->sums + row;
    for (int t = 0; t < TERNARY_BESIDE; t++, sums += p->sums_step) {
        __builtin_prefetch(sums, 1, 2);
        __builtin_prefetch(sums + rows - 1, 1, 2);
    }
}

/* Results of the 16 tokens of a half and row `row` of the panel, each operation rounded. */
INLINE words finished(const ternary_finish_beside *how, words sums, int64_t row, int half)
{
    floats scale = (floats)load_bytes(how->tokens + half * BESIDE_WORDS);
    floats y = __builtin_convertvector(sums, floats);
    if (how->scales)
        scale *= how->scales[row];
    y *= scale;
    IN_REGISTER(y); /* or it would be rounded once with what follows */
    if (how->biases)
        y += how->biases[row];
    if (how->relu)
        y = (floats)_mm512_max_ps(_mm512_setzero_ps(), (__m512)y); /* of NaN it is NaN */
    return (words)y;
}

/*
 * Stores sums of `rows` rows less p->less, finished where they are to be, or adds them: a call, so
 * that its addresses leave the registers to the products. All that goes to a token is stored at
 * once: tokens may lie so far apart that few of their lines find room in the cache together.
 */
static __attribute__((noinline)) void store_beside(const ternary_panel *p, int64_t row, int rows,
                                                   const words (*sums)[BESIDE_HALVES])
{
    const int add = !p->less;
    const int32_t several = rows / 4 * 4;
    for (int half = 0; half < BESIDE_HALVES; half++) {
        int32_t *out = (int32_t *)p->sums + half * BESIDE_WORDS * p->sums_step + row;
        words less = {0}, x[TERNARY_ROWS];
        if (!add)
            less = (words)load_bytes(p->less + half * BESIDE_WORDS);
        for (int r = 0; r < rows; r++) {
            x[r] = sums[r][half] - less;
            if (p->finish)
                x[r] = finished(p->finish, x[r], row + r, half);
        }
        for (int r = 0; r < several; r += 4)
            transpose_fours(x + r);
        for (int t = 0; t < BESIDE_WORDS; t++, out += p->sums_step) {
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
#endif
