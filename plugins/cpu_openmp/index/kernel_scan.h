/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_scan.h - cumulative sums and products. f32 and f64 are computed in f64, u64 modulo 2^64. */
#pragma once

#include <stdint.h>

typedef union scan_word {
    double number;
    uint64_t word;
} scan_word;

typedef struct scan_loops {
    /* out[i] = before + (local + (in[0] + ... + in[i])) for i < n, then local += in[0] + ... +
     * in[n - 1]; products likewise. Eight elements at a time are joined as a tree, and the groups in
     * order. n is a multiple of 8 except at the end of a chunk. `out` may be `in`; NULL: only `local`
     * is computed. */
    void (*run)(void *out, const void *in, int64_t n, const scan_word *before, scan_word *local);
    /* all[i] += in[i]. */
    void (*add)(scan_word *all, const void *in, int64_t n);
    /* a += b */
    void (*join)(scan_word *a, const scan_word *b);
} scan_loops;

typedef struct scan_kernels {
    scan_loops loops[2][3]; /* [sum, product][f32, f64, u64] */
} scan_kernels;
