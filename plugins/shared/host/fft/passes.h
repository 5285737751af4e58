/* SPDX-License-Identifier: Apache-2.0 */
/*
 * passes.h - a call of fft as transforms along one axis after another, for every plugin of this
 * tree, and their lines in host memory.
 */
#ifndef PLUGINS_SHARED_HOST_FFT_PASSES_H
#define PLUGINS_SHARED_HOST_FFT_PASSES_H

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

/* All lines along one axis of a view, transformed into the lines of another. */
typedef struct fft_pass {
    int32_t kind; /* of group.h */
    int32_t inverse;
    int32_t wide; /* f64 and c128 in memory, else f32 and c64 */
    int64_t n;    /* the length; for a half spectrum the length of the real line */
    double scale;
    int64_t lines;
    fft_side from, to;
    int32_t ndim; /* of the other axes, the one with the smallest stride in the output last */
    int64_t shape[COLLET_MAX_DIMS];
} fft_pass;

/*
 * The passes of a call in order; at most FFT_AXES_MAX. 0 when there is nothing to compute. A
 * transform from half spectra over several axes begins in call->workspace and uses its first
 * fft_temporary bytes; the first pass may be in place, later ones are.
 */
int32_t fft_passes_of(const collet_kernel_call *call, fft_unit unit, fft_pass pass[FFT_AXES_MAX]);
uint64_t fft_temporary(const collet_kernel_call *call);

/* Lines first .. first + count - 1 (count <= FFT_LANES_MAX) of a pass in bytes into g's views. */
void fft_pass_lines(const fft_pass *p, int64_t first, int32_t count, fft_group *g);

#endif
