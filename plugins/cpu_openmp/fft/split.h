/* SPDX-License-Identifier: Apache-2.0 */
/*
 * split.h - how a long line is split into rows and columns (kernel_fft.h).
 */
#pragma once

#include "kernel_fft.h"

/* The largest divisor of n not above its square root: the rows. */
int64_t fft_split_rows(int64_t n);

/* n has no prime factor above FFT_PRIME_MAX. 0: out of memory; nothing is left to free. */
int fft_split_make(fft_split *s, int64_t n, int wide, int32_t lanes);
void fft_split_clear(fft_split *s);
