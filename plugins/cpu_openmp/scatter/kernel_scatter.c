/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/scatter/sphere.c, conformance/scatter/average.c,
 * conformance/scatter/amplitudes.c */
#include "kernel_scatter.h"

#include <math.h>
#include <string.h>

#include "cpu_openmp/util/kernel_functions.h"
#include "cpu_openmp/util/kernel_level.h"

#define REAL float
#define INTEGER int32_t
#define NAME(x) x##_f32
#include "kernel_scatter.inc"

#define REAL double
#define INTEGER int64_t
#define NAME(x) x##_f64
#include "kernel_scatter.inc"

static void phases(const double *q, double thickness, double first, int64_t n, double *re, double *im,
                   double *step_re, double *step_im)
{
    int near = 1;
    for (int64_t i = 0; i < n; i++)
        near &= !(fabs(q[i] * thickness * first) > PERIODIC_LIMIT_F64) & !(fabs(q[i] * thickness) > PERIODIC_LIMIT_F64);
    for (int64_t i = 0; i < n && !near; i++) {
        re[i] = cos(q[i] * thickness * first);
        im[i] = sin(q[i] * thickness * first);
        step_re[i] = cos(q[i] * thickness);
        step_im[i] = sin(q[i] * thickness);
    }
    if (!near)
        return;
    INDEPENDENT
    for (int64_t i = 0; i < n; i++) {
        double step = q[i] * thickness;
        re[i] = cos_f64(step * first);
        im[i] = sin_f64(step * first);
        step_re[i] = cos_f64(step);
        step_im[i] = sin_f64(step);
    }
}

extern const scatter_kernels LEVEL_NAME(scatter);
const scatter_kernels LEVEL_NAME(scatter) = {
    .mean = {mean_f32, mean_f64},
    .fold = {fold_f32, fold_f64},
    .combine = {combine_f32, combine_f64},
    .images = {images_f32, images_f64},
    .lanes = {LANES_F32, LANES_F64},
    .phases = phases,
    .amplitudes = {amplitudes_f32, amplitudes_f64},
    .store = {store_f32, store_f64},
    .intensities = {intensities_f32, intensities_f64},
};
