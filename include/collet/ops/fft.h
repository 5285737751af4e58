/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collet/ops/fft.h - typed calls, inline, of the fft family: discrete Fourier transforms.
 *
 * collet/call.h states the rules that hold for every call; docs/KERNELS.md has the
 * definitions and the limits of errors.
 */
#ifndef COLLET_OPS_FFT_H
#define COLLET_OPS_FFT_H

#include <collet/collet.h>
#include <collet/ops/typed.h>

#ifdef __cplusplus
extern "C" {
#endif

#define COLLET_CALL COLLET_TYPED_CALL
#define COLLET_CALL_PARAMS COLLET_TYPED_CALL_PARAMS
#include <collet/ops/begin.def>
#include <collet/ops/fft.def>
#include <collet/ops/end.def>

/* The discrete Fourier transform over the last `last_axes` axes, 1 to 3, of any length; the axes before
 * them are a batch. The dtypes select the transform: c64 to c64 and c128 to c128 either way; f32 to
 * c64 and f64 to c128 forward (inverse 0): the last axis of `out` has the n / 2 + 1 elements of the
 * half spectrum; c64 to f32 and c128 to f64 inverse: n is the length of the last axis of `out`. The
 * inverse divides by the product of the lengths. A complex transform may be done in place. */
static inline collet_status collet_op_fft(collet_context *context, collet_array *out,
                                          const collet_array *a, uint32_t last_axes,
                                          int32_t inverse)
{
    collet_fft_params params = {sizeof params, last_axes, inverse != 0, 0};
    return collet_call(context, COLLET_OP_FFT, &out, &a, &params);
}

/* Rolls each of `count` axes (negative axes count from the end; count 0 with axes NULL: all) by
 * n / 2, which moves frequency 0 to the middle; inverse != 0 moves it back. Any dtype. */
static inline collet_status collet_op_fftshift(collet_context *context, collet_array *out,
                                               const collet_array *a, const int32_t *axes,
                                               int32_t count, int32_t inverse)
{
    collet_fftshift_params params = {sizeof params, 0, inverse != 0, 0};
    collet_status status =
        collet_ops_axes(context, COLLET_OP_FFTSHIFT, &params.axes, a, axes, count);
    return status ? status : collet_call(context, COLLET_OP_FFTSHIFT, &out, &a, &params);
}

#ifdef __cplusplus
}
#endif
#endif
