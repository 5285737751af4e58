/* SPDX-License-Identifier: Apache-2.0 */
/* host.h - the names that formulas use, defined for C: types, and the functions that the preludes of devices
 * define, except the elementary functions (exp_f32, ...). Include it before formulas.h. */
#pragma once

#include <math.h>
#include <stdint.h>
#include <string.h>

#include <collet/types.h>

typedef int8_t i8;
typedef uint8_t u8;
typedef int16_t i16;
typedef uint16_t u16;
typedef int32_t i32;
typedef uint32_t u32;
typedef int64_t i64;
typedef uint64_t u64;
typedef uint8_t b8;
typedef float f32;
typedef double f64;
typedef collet_c64 c64;
typedef collet_c128 c128;

#ifndef INLINE
#define INLINE static inline __attribute__((always_inline))
#endif
#define DEV static inline __attribute__((unused))
#define RE(z) ((z).re)
#define IM(z) ((z).im)

#define INFINITY_F32 __builtin_inff()
#define NAN_F32 __builtin_nanf("")

INLINE u32 bits_f32(f32 x)
{
    u32 bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

INLINE f32 of_f32(u32 bits)
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

INLINE f64 of_f64(u64 bits)
{
    f64 x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

#define divide_f32(a, b) ((a) / (b))
#define divide_f64(a, b) ((a) / (b))
#define root_f32(x) __builtin_sqrtf(x)
#define root_f64(x) __builtin_sqrt(x)
#define magnitude_f32(x) __builtin_fabsf(x)
#define magnitude_f64(x) __builtin_fabs(x)
#define with_sign_f32(x, sign) __builtin_copysignf((x), (sign))
#define with_sign_f64(x, sign) __builtin_copysign((x), (sign))
#define exact_fma_f32(a, b, c) __builtin_fmaf((a), (b), (c))
#define exact_fma_f64(a, b, c) __builtin_fma((a), (b), (c))
#define floor_f32(x) __builtin_floorf(x)
#define floor_f64(x) __builtin_floor(x)
#define ceil_f32(x) __builtin_ceilf(x)
#define ceil_f64(x) __builtin_ceil(x)
#define trunc_f32(x) __builtin_truncf(x)
#define trunc_f64(x) __builtin_trunc(x)
#define rint_f32(x) __builtin_rintf(x)
#define rint_f64(x) __builtin_rint(x)
#define fmod_f32(a, b) fmodf((a), (b))
#define fmod_f64(a, b) fmod((a), (b))
#define complex_f32 complex_c64

/* sin, cos and tan of an f64 by the C library. For some arguments far from 0 and close to a multiple of pi/2, glibc's
 * functions for double have errors of up to 14 ulp (measured with 2.36: cos 5.319372648326541e255); its functions for
 * long double do not. */
#define library_periodic(name, x) (__builtin_fabs(x) < 0x1p26 ? name(x) : (f64)name##l((long double)(x)))
#define complex_f64 complex_c128
