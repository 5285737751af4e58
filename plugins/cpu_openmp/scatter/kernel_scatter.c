/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/scatter/sphere.c, conformance/scatter/average.c,
 * conformance/scatter/amplitudes.c */
#include "kernel_scatter.h"

#include <math.h>
#include <string.h>

#include "cpu_openmp/util/kernel_level.h"

#define REAL float
#define INTEGER int32_t
#define NAME(x) x##_f32
#include "kernel_scatter.inc"

#define REAL double
#define INTEGER int64_t
#define NAME(x) x##_f64
#include "kernel_scatter.inc"

extern const scatter_kernels LEVEL_NAME(scatter);
const scatter_kernels LEVEL_NAME(scatter) = {
    .mean = {mean_f32, mean_f64},
    .fold = {fold_f32, fold_f64},
    .combine = {combine_f32, combine_f64},
    .images = {images_f32, images_f64},
    .add_layer = {add_layer_f32, add_layer_f64},
    .next_layer = {next_layer_f32, next_layer_f64},
    .intensities = {intensities_f32, intensities_f64},
};
