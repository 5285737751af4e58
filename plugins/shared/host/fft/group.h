/* SPDX-License-Identifier: Apache-2.0 */
/* group.h - a group of a few lines that are read from memory, transformed together and written to memory. */
#pragma once

#include <stdint.h>

#include "plan.h"

#define FFT_LANES_MAX 16
#define FFT_CACHE_LINE 64

/* The addresses of some lines: element j of line l is at at[l] + j * step; its imaginary part, if the line is complex,
 * is `part` bytes after it. The next group, `ahead` bytes after this group, is prefetched; 0: no prefetch. */
typedef struct fft_view {
    char *at[FFT_LANES_MAX];
    int64_t step, part, ahead;
} fft_view;

enum { FFT_COMPLEX, FFT_TO_HALF, FFT_FROM_HALF };

/* Steps of the views are in elements of the caller's type, real or complex. */
typedef struct fft_group {
    const fft_axis *axis;
    int32_t kind;
    int32_t inverse;
    int32_t lanes; /* number of lines, at most the lanes of the vector */
    double scale;  /* factor of the result */
    fft_view in, out;
} fft_group;
