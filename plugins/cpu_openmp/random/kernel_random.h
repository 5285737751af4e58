/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_random.h - writes numbers first .. first + n - 1 (modulo 2^64) of the sequence of `seed` to
 * adjacent elements at `out`, aligned to the element. docs/KERNELS.md defines the numbers. Uniform numbers have the
 * same bits on every level; other numbers are within 4 ulp. Tables have one entry per type: [f32, f64].
 */
#pragma once

#include <stdint.h>

typedef void (*random_draw)(char *out, uint64_t seed, uint64_t first, int64_t n);

typedef struct random_kernels {
    random_draw uniform[2], normal[2], exponential[2];
} random_kernels;
