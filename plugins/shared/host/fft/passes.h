/* SPDX-License-Identifier: Apache-2.0 */
/* passes.h - divides a call of fft into passes, for every plugin of this tree. Each pass transforms along one axis.
 * Also describes the lines of a pass in host memory, for fft_group. */
#pragma once

#include <collet/plugin.h>

#include "group.h"

#define FFT_AXES_MAX 3

/* The unit of `first`, `step` and `other` below. */
typedef enum fft_unit { FFT_BYTES, FFT_ELEMENTS } fft_unit;

/* The input or the output of a pass. */
typedef struct fft_side {
    void *buffer;
    int64_t first;                  /* the first element, from the start of the buffer */
    int64_t step, length;           /* along the axis; `length` in elements */
    int64_t other[COLLET_MAX_DIMS]; /* steps of fft_pass.shape */
} fft_side;

/* A pass transforms all lines along one axis from an input view to an output view. */
typedef struct fft_pass {
    int32_t kind; /* a constant of group.h */
    int32_t inverse;
    int32_t wide; /* f64 and c128 in memory, else f32 and c64 */
    int64_t n;    /* the length; for a half spectrum the length of the real line */
    double scale;
    int64_t lines;
    fft_side from, to;
    int32_t ndim; /* number of the other axes; the axis with the smallest stride in the output is last */
    int64_t shape[COLLET_MAX_DIMS];
} fft_pass;

/* Sets the passes of a call, in order, and returns their number, at most FFT_AXES_MAX; 0 if there is nothing
 * to compute. A transform from half spectra over several axes uses the first fft_temporary bytes of
 * call->workspace for its first passes. The first pass may be in place; later passes always are. */
int32_t fft_passes_of(const collet_kernel_call *call, fft_unit unit, fft_pass pass[FFT_AXES_MAX]);
uint64_t fft_temporary(const collet_kernel_call *call);

/* Sets the views of g to lines first .. first + count - 1 (count <= FFT_LANES_MAX) of a pass whose unit is bytes. */
void fft_pass_lines(const fft_pass *p, int64_t first, int32_t count, fft_group *g);
