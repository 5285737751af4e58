/* SPDX-License-Identifier: Apache-2.0 */
/*
 * philox.h - Philox4x32-10: 128 random bits for each counter and key.
 *
 * J. Salmon, M. Moraes, R. Dror, D. Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC'11.
 */
#pragma once

#include <stdint.h>

#define CPU_PHILOX_ROUNDS 10
/* Multipliers of words 0 and 2, and increments of the key's words per round. */
#define CPU_PHILOX_M0 0xd2511f53u
#define CPU_PHILOX_M1 0xcd9e8d57u
#define CPU_PHILOX_K0 0x9e3779b9u
#define CPU_PHILOX_K1 0xbb67ae85u

/* The four words of the block at `counter`. */
static inline void cpu_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t block[4])
{
    uint32_t x0 = counter[0], x1 = counter[1], x2 = counter[2], x3 = counter[3];
    uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < CPU_PHILOX_ROUNDS; round++) {
        uint64_t p0 = (uint64_t)CPU_PHILOX_M0 * x0, p1 = (uint64_t)CPU_PHILOX_M1 * x2;
        x0 = (uint32_t)(p1 >> 32) ^ x1 ^ k0;
        x1 = (uint32_t)p1;
        x2 = (uint32_t)(p0 >> 32) ^ x3 ^ k1;
        x3 = (uint32_t)p0;
        k0 += CPU_PHILOX_K0;
        k1 += CPU_PHILOX_K1;
    }
    block[0] = x0;
    block[1] = x1;
    block[2] = x2;
    block[3] = x3;
}
