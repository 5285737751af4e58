/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_interleaved.h - transposition and storing of words, for interleaved tokens
 * (kernel_ternary.h).
 */
#ifndef PLUGINS_CPU_OPENMP_TERNARY_KERNEL_INTERLEAVED_H
#define PLUGINS_CPU_OPENMP_TERNARY_KERNEL_INTERLEAVED_H

#include "kernel_ternary.h"
#include "kernel_lanes.h"

#if defined(__AVX512VNNI__)

#define INTERLEAVED_WORDS 16 /* of a register: one word of each of as many tokens */
#define INTERLEAVED_HALVES (TERNARY_INTERLEAVED / INTERLEAVED_WORDS)

typedef int32_t word_at_any __attribute__((aligned(1), may_alias));

/* The four bytes at `at`, in every word. The compiler would load some together and permute them, in
 * the units that the products need. */
INLINE bytes word_in_all(const uint8_t *at)
{
    words x;
    __asm__("vpbroadcastd %1, %0" : "=v"(x) : "m"(*(const word_at_any *)(const void *)at));
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

/* Word j of the 64 bytes i and word i of the 64 bytes j, of 16 that are `step` bytes apart, are
 * exchanged. */
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

/* Results of the 16 tokens of a half and row `row` of the panel, each operation rounded. */
INLINE words finished(const ternary_finish_interleaved *how, words sums, int64_t row, int half)
{
    floats scale = (floats)load_bytes(how->tokens + half * INTERLEAVED_WORDS);
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
 * Stores sums of `rows` rows minus p->less, finished if p asks for that, or adds them: a call, so
 * that its addresses leave the registers to the products. All results of a token are stored at
 * once: tokens may be so far apart that their cache lines evict each other.
 */
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
#endif
