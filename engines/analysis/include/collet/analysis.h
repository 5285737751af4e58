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
 * With 0 blocks there are none, and `parts` may be NULL.
 *
 * The conventions of collet.h hold. Besides the series some 50 MiB of memory are used, or about
 * ten times the series of one body if that is more. Errors: SHAPE for other shapes or no elements,
 * DTYPE, INVALID for numbers that are not finite or whose squares exceed f64, with their place,
 * NO_MEMORY, and errors of the backend.
 */
#ifndef COLLET_ANALYSIS_H
#define COLLET_ANALYSIS_H

#include <collet/collet.h>

#ifdef __cplusplus
extern "C" {
#endif

/* whole[k], k < frames: the mean over t of x[t] . x[t + k]; with `subtract_mean` (0 or 1) of x
 * minus each body's mean over all frames. */
COLLET_API collet_status collet_analysis_autocorrelation(collet_context *context, double *whole,
                                                         double *parts, const collet_array *x,
                                                         int64_t blocks, int32_t subtract_mean,
                                                         collet_error *err);

/* whole[k], k < frames: the mean over t of |x[t + k] - x[t]|^2, of positions that no periodic box
 * cuts. */
COLLET_API collet_status collet_analysis_displacement(collet_context *context, double *whole,
                                                      double *parts, const collet_array *x,
                                                      int64_t blocks, collet_error *err);

/* What collet_analysis_rotation fills; memory of the caller. */
typedef struct collet_analysis_rotation_curves {
    uint32_t struct_size;
    uint32_t reserved;  /* 0 */
    double *c1;         /* frames: the mean of u(0) . u(t) */
    double *c1_parts;   /* blocks x (frames / blocks) */
    double *c2;         /* frames: the mean of (3 (u(0) . u(t))^2 - 1) / 2 */
    double *c2_parts;   /* blocks x (frames / blocks) */
    double *s2_without; /* blocks: S^2 of all blocks but one, without the frames that are left; not
                           set if a block has no frame */
    double s2;          /* the order parameter S^2 */
} collet_analysis_rotation_curves;

/* Rotation of axes of any length, with 3 components. INVALID too if a length is 0. */
COLLET_API collet_status collet_analysis_rotation(collet_context *context,
                                                  collet_analysis_rotation_curves *curves,
                                                  const collet_array *axes, int64_t blocks,
                                                  collet_error *err);

/* errors[k], k < lags: the standard error of the mean of `blocks` >= 2 curves, parts[b * lags + k], by
 * the jackknife, times Student's factor for so few blocks; with `normalise` (0 or 1) of curves that are divided by their element 0. */
COLLET_API collet_status collet_analysis_errors(double *errors, const double *parts, int64_t blocks,
                                                int64_t lags, int32_t normalise, collet_error *err);

#ifdef __cplusplus
}
#endif
#endif
