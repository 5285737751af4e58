/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collet/analysis.h - libcollet-analysis: correlation and displacement of series of frames, such as
 * arrays of collet-extract, over all pairs of frames a lag apart. The Fourier transforms run on the
 * context's backend, everything in f64. docs/KERNELS.md defines the curves.
 *
 *     double whole[FRAMES], parts[5 * (FRAMES / 5)], error[FRAMES / 5];
 *     status = collet_analysis_displacement(context, whole, parts, com, 5, &err);
 *     if (status == COLLET_OK)
 *         status = collet_analysis_errors(error, parts, 5, FRAMES / 5, 0, &err);
 *
 * A series is an array of f32 or f64 on any device: frames, frames x components, or frames x bodies x
 * components, with 1 or 3 components, equally spaced in time. Curves are means over the bodies.
 *
 * With `blocks` n > 0 the frames are cut into n consecutive blocks of frames / n frames, rounded down;
 * blocks do not use the remaining frames. `parts` gets the curve of each block, n x (frames / n).
 * With `blocks` 0, `parts` is not used and may be NULL.
 *
 * The conventions of collet.h hold. Besides the series some 50 MiB of memory are used, or about
 * ten times the series of one body if that is more. Errors: SHAPE for other shapes or no elements;
 * DTYPE for other dtypes; INVALID if a number is not finite (the text says where), or if squares
 * overflow f64; NO_MEMORY; errors of the backend.
 */
#ifndef COLLET_ANALYSIS_H
#define COLLET_ANALYSIS_H

#include <collet/collet.h>

#ifdef __cplusplus
extern "C" {
#endif

/* whole[k], k < frames: the mean over t of x[t] . x[t + k]. With subtract_mean = 1, each body's mean
 * over all frames is first subtracted from x; with 0 it is not. */
COLLET_API collet_status collet_analysis_autocorrelation(collet_context *context, double *whole,
                                                         double *parts, const collet_array *x,
                                                         int64_t blocks, int32_t subtract_mean,
                                                         collet_error *err);

/* whole[k], k < frames: the mean over t of |x[t + k] - x[t]|^2. Positions must be unwrapped: no jumps
 * at the boundaries of a periodic box. */
COLLET_API collet_status collet_analysis_displacement(collet_context *context, double *whole,
                                                      double *parts, const collet_array *x,
                                                      int64_t blocks, collet_error *err);

/* Results of collet_analysis_rotation; the caller supplies the memory. u(t) is the axis of a body at
 * time t, divided by its length. */
typedef struct collet_analysis_rotation_curves {
    uint32_t struct_size;
    uint32_t reserved;  /* 0 */
    double *c1;         /* frames: the mean of u(0) . u(t) */
    double *c1_parts;   /* blocks x (frames / blocks) */
    double *c2;         /* frames: the mean of (3 (u(0) . u(t))^2 - 1) / 2 */
    double *c2_parts;   /* blocks x (frames / blocks) */
    double *s2_without; /* blocks: element b is S^2 over all blocks but block b, for the jackknife;
                           not set if blocks < 2 or a block has no frame */
    double s2;          /* the order parameter S^2 */
} collet_analysis_rotation_curves;

/* Rotational correlation of axes with 3 components and any length. Also INVALID if a length is 0. */
COLLET_API collet_status collet_analysis_rotation(collet_context *context,
                                                  collet_analysis_rotation_curves *curves,
                                                  const collet_array *axes, int64_t blocks,
                                                  collet_error *err);

/* errors[k], k < lags: the jackknife standard error of the mean of `blocks` >= 2 curves,
 * parts[b * lags + k], times Student's factor for this number of blocks. With normalise = 1, each jackknife mean is
 * first divided by its element 0. */
COLLET_API collet_status collet_analysis_errors(double *errors, const double *parts, int64_t blocks,
                                                int64_t lags, int32_t normalise, collet_error *err);

#ifdef __cplusplus
}
#endif
#endif
