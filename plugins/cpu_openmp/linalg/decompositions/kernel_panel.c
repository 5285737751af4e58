/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/linalg/factors.c */
#include "kernel_panel.h"

#include <math.h>
#include <string.h>

#include "cpu_openmp/util/kernel_level.h"

#define ABSOLUTE(x) _Generic((x), float : __builtin_fabsf, double : __builtin_fabs)(x)

#define REAL float
#define BITS uint32_t
#define NAME(x) x##_f32
#define INFINITE 0x7f800000u
#define SAFE 0x1p-126f
#define TINY_SQUARE 0x1p-60f
#define ROOT_OF_TINY 0x1p-30f
#define RAISE 0x1p+28f
#include "kernel_panel.inc"

#define REAL double
#define BITS uint64_t
#define NAME(x) x##_f64
#define INFINITE 0x7ff0000000000000u
#define SAFE 0x1p-1022
#define TINY_SQUARE 0x1p-800
#define ROOT_OF_TINY 0x1p-400
#define RAISE 0x1p+380
#include "kernel_panel.inc"

extern const panel_kernels LEVEL_NAME(panel);
const panel_kernels LEVEL_NAME(panel) = {
    .largest = {largest_f32, largest_f64},
    .negate = {negate_f32, negate_f64},
    .swap = {swap_f32, swap_f64},
    .lu = {lu_f32, lu_f64},
    .qr = {qr_f32, qr_f64},
};
