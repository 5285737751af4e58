/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_philox.h - the rounds of Philox4x32-10 for several blocks in vector registers. */
#pragma once

#include "cpu_openmp/util/kernel_level.h"
#include "shared/host/random/philox.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* Each lane holds one 32-bit word of a block in its low half; the high half is undefined. */
typedef uint64_t words __attribute__((vector_size(VECTOR_BYTES)));
#define LANES (VECTOR_BYTES / 8)

/* Vectors whose rounds are interleaved, to hide the latency of the multiplications. */
#define VECTORS 2

/* The 64-bit products of the low halves. */
#if defined(__AVX512F__)
#define MULTIPLY(a, b) ((words)_mm512_mul_epu32((__m512i)(a), (__m512i)(b)))
#elif defined(__AVX2__)
#define MULTIPLY(a, b) ((words)_mm256_mul_epu32((__m256i)(a), (__m256i)(b)))
#elif defined(__x86_64__)
#define MULTIPLY(a, b) ((words)_mm_mul_epu32((__m128i)(a), (__m128i)(b)))
#else
#define MULTIPLY(a, b) (((a)&0xffffffffu) * ((b)&0xffffffffu))
#endif

/* x: at first the counters, then words 0 to 3 of the blocks. low, high: the two 64-bit numbers of each block. */
typedef struct philox_blocks {
    words x[4][VECTORS], low[VECTORS], high[VECTORS];
} philox_blocks;

INLINE void philox_rounds(philox_blocks *b, uint64_t seed)
{
    const words zero = {0}, m0 = zero + CPU_PHILOX_M0, m1 = zero + CPU_PHILOX_M1;
    uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
    for (int round = 0; round < CPU_PHILOX_ROUNDS; round++) {
        for (int v = 0; v < VECTORS; v++) {
            words p0 = MULTIPLY(b->x[0][v], m0), p1 = MULTIPLY(b->x[2][v], m1);
            b->x[0][v] = (p1 >> 32) ^ b->x[1][v] ^ (zero + k0);
            b->x[1][v] = p1;
            b->x[2][v] = (p0 >> 32) ^ b->x[3][v] ^ (zero + k1);
            b->x[3][v] = p0;
        }
        k0 += CPU_PHILOX_K0;
        k1 += CPU_PHILOX_K1;
    }
    for (int v = 0; v < VECTORS; v++) {
        b->low[v] = (b->x[0][v] & 0xffffffffu) | b->x[1][v] << 32;
        b->high[v] = (b->x[2][v] & 0xffffffffu) | b->x[3][v] << 32;
    }
}
