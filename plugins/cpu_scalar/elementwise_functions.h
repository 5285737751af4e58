/* SPDX-License-Identifier: Apache-2.0 */
/* elementwise_functions.h - the elementary functions of formulas by the C library. f32 is computed in
 * double, whose error of a few ulp hardly ever changes the rounded f32. */
#pragma once

#include "shared/formula/host.h"

#define ONE_(name)                                                                                 \
    INLINE f64 name##_f64(f64 a)                                                                   \
    {                                                                                              \
        return name(a);                                                                            \
    }                                                                                              \
    INLINE f32 name##_f32(f32 a)                                                                   \
    {                                                                                              \
        return (f32)name((f64)a);                                                                  \
    }
#define TWO_(name)                                                                                 \
    INLINE f64 name##_f64(f64 a, f64 b)                                                            \
    {                                                                                              \
        return name(a, b);                                                                         \
    }                                                                                              \
    INLINE f32 name##_f32(f32 a, f32 b)                                                            \
    {                                                                                              \
        return (f32)name((f64)a, (f64)b);                                                          \
    }

ONE_(exp) ONE_(log) ONE_(sqrt) ONE_(tanh) ONE_(exp2) ONE_(expm1) ONE_(log1p)
ONE_(log2) ONE_(log10) ONE_(asin) ONE_(acos) ONE_(atan) ONE_(sinh) ONE_(cosh)
ONE_(asinh) ONE_(acosh) ONE_(atanh) ONE_(erf) ONE_(erfc)
TWO_(pow) TWO_(atan2) TWO_(hypot)

#define PERIODIC_(name)                                                                            \
    INLINE f64 name##_f64(f64 a)                                                                   \
    {                                                                                              \
        return library_periodic(name, a);                                                          \
    }                                                                                              \
    INLINE f32 name##_f32(f32 a)                                                                   \
    {                                                                                              \
        return (f32)name((f64)a);                                                                  \
    }
PERIODIC_(sin) PERIODIC_(cos) PERIODIC_(tan)

/* glibc's cbrt for double has errors of up to 3 ulp. */
INLINE f64 cbrt_f64(f64 a)
{
    return (f64)cbrtl((long double)a);
}

INLINE f32 cbrt_f32(f32 a)
{
    return (f32)cbrt((f64)a);
}

/* Calls lgamma_r, because lgamma writes the global variable signgam. */
INLINE f64 lgamma_f64(f64 a)
{
    int sign;
    return lgamma_r(a, &sign);
}

INLINE f32 lgamma_f32(f32 a)
{
    return (f32)lgamma_f64((f64)a);
}

/* For a < 0, e^-a could overflow, so e^a is used. */
INLINE f64 expit_f64(f64 a)
{
    return a < 0.0 ? exp(a) / (1.0 + exp(a)) : 1.0 / (1.0 + exp(-a));
}

INLINE f32 expit_f32(f32 a)
{
    return (f32)expit_f64((f64)a);
}

INLINE f64 logaddexp_f64(f64 a, f64 b)
{
    f64 larger = a > b ? a : b, sum = larger + log1p(exp(-fabs(a - b)));
    return a != a || b != b ? a + b : a == b ? a + 0x1.62e42fefa39efp-1 : sum;
}

INLINE f32 logaddexp_f32(f32 a, f32 b)
{
    return (f32)logaddexp_f64((f64)a, (f64)b);
}
