/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pass.h - a call of the op fft as transforms along one axis after another.
 */
#ifndef PLUGINS_SHARED_JIT_FFT_PASS_H
#define PLUGINS_SHARED_JIT_FFT_PASS_H

#include "shared/jit/runtime/launch.h"

#define FFT_AXES_MAX 3

/* A view of all numbers of one side of a pass. */
typedef struct fft_side {
    void *buffer;
    int64_t first; /* elements, also of the strides */
    const int64_t *shape;
    int64_t strides[COLLET_MAX_DIMS];
    int real;
} fft_side;

/* All lines along one axis. */
typedef struct fft_pass {
    fft_side from, to;
    int32_t axis, inverse;
    int32_t wide; /* f64, else f32 */
    int half;     /* `from` has half spectra of lines that become real */
    int64_t n;    /* the length; for a half spectrum the length of the real line */
    double scale;
    int64_t lines;
    int32_t outer; /* the other axes, the smallest stride in the output last */
    int64_t extent[COLLET_MAX_DIMS], in_other[COLLET_MAX_DIMS], out_other[COLLET_MAX_DIMS];
} fft_pass;

/*
 * The passes of a call in order, as on the CPUs: the last axis first, but last in a complex-to-real
 * transform, which begins in the workspace. None when there is nothing to compute.
 */
int32_t fft_passes_of(const collet_kernel_call *call, fft_pass passes[FFT_AXES_MAX]);

/* Bytes at the front of the workspace for the numbers between passes. */
uint64_t fft_temporary_bytes(const collet_kernel_call *call);

static inline uint64_t fft_magnitude(int64_t step)
{
    return step < 0 ? 0 - (uint64_t)step : (uint64_t)step;
}

#endif
