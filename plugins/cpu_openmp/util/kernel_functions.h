/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_functions.h - the elementary functions of plugins/shared/formula for one instruction set level.
 * They have no branches, so that a loop over them vectorises. */
#pragma once

#include "kernel_level.h"

#include "shared/formula/host.h"

#define HAVE_F64 1
#define FAR_REDUCTION 0
#define INFINITY_F64 __builtin_inf()
#define NAN_F64 __builtin_nan("")
#define sqrt_f32(x) root_f32(x)
#define sqrt_f64(x) root_f64(x)
#define mad_f32(a, b, c) MULTIPLY_ADD(a, b, c)
#define mad_f64(a, b, c) MULTIPLY_ADD(a, b, c)
#if HAVE_FMA
#define product_low_f32(a, b, p) MULTIPLY_ADD(a, b, -(p))
#define product_low_f64(a, b, p) MULTIPLY_ADD(a, b, -(p))
#else
#define product_low_f32(a, b, p) ((f32)((f64)(a) * (f64)(b) - (f64)(p)))
#endif

#if !HAVE_FMA
/* The rounding error of p = a b: splits a and b into halves of their digits (T. Dekker, 1971). */
INLINE f64 product_low_f64(f64 a, f64 b, f64 p)
{
    f64 a_high = of_f64(bits_f64(a) & 0xfffffffff8000000u), a_low = a - a_high;
    f64 b_high = of_f64(bits_f64(b) & 0xfffffffff8000000u), b_low = b - b_high;
    return ((a_high * b_high - p) + (a_high * b_low + a_low * b_high)) + a_low * b_low;
}
#endif

#include "shared/formula/functions_f32.dev"
#include "shared/formula/functions_f64.dev"
