/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_functions.h - the elementary functions of plugins/shared/formula at a level of the CPU:
 * without branches, so that a loop over them vectorises.
 */
#ifndef PLUGINS_CPU_OPENMP_UTIL_KERNEL_FUNCTIONS_H
#define PLUGINS_CPU_OPENMP_UTIL_KERNEL_FUNCTIONS_H

#include <stdint.h>
#include <string.h>

#include "kernel_level.h"

typedef float f32;
typedef double f64;
typedef int32_t i32;
typedef int64_t i64;
typedef uint32_t u32;
typedef uint64_t u64;

#define HAVE_F64 1
#define FAR_REDUCTION 0
#define INFINITY_F32 __builtin_inff()
#define INFINITY_F64 __builtin_inf()
#define NAN_F32 __builtin_nanf("")
#define NAN_F64 __builtin_nan("")

#define mad_f32(a, b, c) MULTIPLY_ADD(a, b, c)
#define mad_f64(a, b, c) MULTIPLY_ADD(a, b, c)
#if HAVE_FMA
#define product_low_f32(a, b, p) MULTIPLY_ADD(a, b, -(p))
#define product_low_f64(a, b, p) MULTIPLY_ADD(a, b, -(p))
#else
#define product_low_f32(a, b, p) ((f32)((f64)(a) * (f64)(b) - (f64)(p)))
#endif
#define divide_f32(a, b) ((a) / (b))
#define divide_f64(a, b) ((a) / (b))
#define root_f32(x) __builtin_sqrtf(x)
#define root_f64(x) __builtin_sqrt(x)
#define magnitude_f32(x) __builtin_fabsf(x)
#define magnitude_f64(x) __builtin_fabs(x)
#define copysign_f32(x, y) __builtin_copysignf(x, y)
#define copysign_f64(x, y) __builtin_copysign(x, y)

INLINE u32 bits_f32(f32 x)
{
    u32 bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

INLINE f32 f32_bits(u32 bits)
{
    f32 x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

INLINE u64 bits_f64(f64 x)
{
    u64 bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

INLINE f64 f64_bits(u64 bits)
{
    f64 x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

#if !HAVE_FMA
/* By halves of the digits (T. Dekker, 1971). */
INLINE f64 product_low_f64(f64 a, f64 b, f64 p)
{
    f64 a_high = f64_bits(bits_f64(a) & 0xfffffffff8000000u), a_low = a - a_high;
    f64 b_high = f64_bits(bits_f64(b) & 0xfffffffff8000000u), b_low = b - b_high;
    return ((a_high * b_high - p) + (a_high * b_low + a_low * b_high)) + a_low * b_low;
}
#endif

#include "shared/formula/functions_f32.dev"
#include "shared/formula/functions_f64.dev"

#endif
