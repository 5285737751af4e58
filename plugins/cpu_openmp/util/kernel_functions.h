/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_functions.h - elementary functions of one number, without branches, so that a loop over
 * them vectorises. Polynomials are our own minimax fits; "error" is relative to the function.
 */
#ifndef PLUGINS_CPU_OPENMP_UTIL_KERNEL_FUNCTIONS_H
#define PLUGINS_CPU_OPENMP_UTIL_KERNEL_FUNCTIONS_H

#include <stdint.h>
#include <string.h>

#include "kernel_level.h"

/* ---- f32 ----------------------------------------------------------------------------------- */

INLINE uint32_t f32_bits(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

INLINE float f32_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* ln 2 in two parts; an exponent times the first is exact. */
#define LN2_HIGH_F32 0x1.62e4p-1f
#define LN2_LOW_F32 0x1.7f7d1cp-20f

/* 1.5 * 2^23: adding it rounds to an integer, which is then in the low bits. */
#define ROUND_F32 0x1.8p23f

/*
 * x = k ln 2 + r, |r| <= ln 2 / 2: returns e^r - 1 and sets *k; (e^r - 1 - r) / r^2 is a polynomial
 * (error 2^-28). |x| is below 2^16.
 */
INLINE float exp_part_f32(float x, uint32_t *exponent)
{
    float shifted = MULTIPLY_ADD(x, 0x1.715476p+0f, ROUND_F32);
    float k = shifted - ROUND_F32;
    float high = MULTIPLY_ADD(k, -LN2_HIGH_F32, x);
    float r = MULTIPLY_ADD(k, -LN2_LOW_F32, high);
    /* The rounding error of r: without it the error would exceed 1 ulp. */
    float lost = MULTIPLY_ADD(k, -LN2_LOW_F32, high - r);
    float q = 0x1.6df7eep-10f;
    q = MULTIPLY_ADD(q, r, 0x1.123d10p-7f);
    q = MULTIPLY_ADD(q, r, 0x1.555418p-5f);
    q = MULTIPLY_ADD(q, r, 0x1.55548cp-3f);
    q = MULTIPLY_ADD(q, r, 0.5f);
    *exponent = f32_bits(shifted) - f32_bits(ROUND_F32);
    return r + MULTIPLY_ADD(q, r * r, lost);
}

/* |x| <= EXP_NORMAL_LIMIT: neither k nor the result is out of range. */
#define EXP_NORMAL_LIMIT_F32 87.0f

INLINE float exp_normal_f32(float x)
{
    uint32_t k;
    float y = 1.0f + exp_part_f32(x, &k);
    return y * f32_of((k + 127u) << 23);
}

INLINE float exp_f32(float x)
{
    uint32_t k;
    /* Beyond these the result is infinity or 0 anyway, and k stays small. NaN propagates. */
    float bounded = x > 89.0f ? 89.0f : x;
    bounded = bounded < -104.0f ? -104.0f : bounded;
    float y = 1.0f + exp_part_f32(bounded, &k);
    /* 2^k in two factors that do not overflow; only the second product can round. */
    uint32_t biased = k + 512u;
    uint32_t half = biased >> 1;
    return y * f32_of((half - 256u + 127u) << 23) * f32_of((biased - half - 256u + 127u) << 23);
}

/*
 * The logarithm of x / 2^scale, x normal and finite: x = 2^e m, sqrt(1/2) <= m < sqrt(2); with z =
 * m - 1, ln m = z - z^2/2 + z^3 P(z).
 */
INLINE float log_part_f32(float x, float scale)
{
    uint32_t bits = f32_bits(x) + (0x3f800000u - 0x3f3504f3u);
    float e = (float)((int32_t)(bits >> 23) - 127) - scale;
    float z = f32_of((bits & 0x7fffffu) + 0x3f3504f3u) - 1.0f;
    float p = 0x1.1b4670p-4f;
    p = MULTIPLY_ADD(p, z, -0x1.e3168cp-4f);
    p = MULTIPLY_ADD(p, z, 0x1.e66606p-4f);
    p = MULTIPLY_ADD(p, z, -0x1.fb3d64p-4f);
    p = MULTIPLY_ADD(p, z, 0x1.23310ep-3f);
    p = MULTIPLY_ADD(p, z, -0x1.5562fep-3f);
    p = MULTIPLY_ADD(p, z, 0x1.99a55ap-3f);
    p = MULTIPLY_ADD(p, z, -0x1.ffffeep-3f);
    p = MULTIPLY_ADD(p, z, 0x1.555546p-2f);
    p = MULTIPLY_ADD(p, z, -0.5f);
    /* The sum of the two large terms with its rounding error: they cancel for e = -1. */
    float high = e * LN2_HIGH_F32;
    float sum = high + z;
    float rest = (high - sum) + z;
    return sum + MULTIPLY_ADD(p, z * z, MULTIPLY_ADD(e, LN2_LOW_F32, rest));
}

/* The logarithm of a positive normal number. */
INLINE float log_normal_f32(float x)
{
    return log_part_f32(x, 0.0f);
}

INLINE float log_f32(float x)
{
    int tiny = x < 0x1p-126f;
    float y = log_part_f32(x * (tiny ? 0x1p23f : 1.0f), tiny ? 23.0f : 0.0f);
    y = x == __builtin_inff() ? x : y;
    float outside = x == 0.0f ? -__builtin_inff() : __builtin_nanf("");
    return x > 0.0f ? y : outside;
}

INLINE float sqrt_f32(float x)
{
    return __builtin_sqrtf(x);
}

/* sin_f32 and cos_f32 reduce exactly enough up to this |x|. NaN propagates. */
#define PERIODIC_LIMIT_F32 1e5f

/* x - n pi/2, x >= 0, n the integer near x / (pi/2). */
INLINE float reduced_f32(float x, float n)
{
#if HAVE_FMA
    /* The first difference is exact: a multiple of 2^-24 below 1. */
    float r = MULTIPLY_ADD(n, -0x1.921fb6p+0f, x);
    r = MULTIPLY_ADD(n, 0x1.777a5cp-25f, r);
    return MULTIPLY_ADD(n, 0x1.ee59dap-50f, r);
#else
    /* The first product is exact: 17 and 33 bits. */
    double r = (double)x - (double)n * 0x1.921fb544p+0;
    return (float)(r - (double)n * 0x1.0b4611a626331p-34);
#endif
}

/* sin(r + q pi/2), |r| <= pi/4 (error 2^-27). */
INLINE float quarter_f32(float r, uint32_t q)
{
    float z = r * r;
    float s = -0x1.991c26p-13f;
    s = MULTIPLY_ADD(s, z, 0x1.1106c6p-7f);
    s = MULTIPLY_ADD(s, z, -0x1.555544p-3f);
    s = MULTIPLY_ADD(r * z, s, r);
    float c = 0x1.99e714p-16f;
    c = MULTIPLY_ADD(c, z, -0x1.6c0c26p-10f);
    c = MULTIPLY_ADD(c, z, 0x1.55554ap-5f);
    c = MULTIPLY_ADD(z * z, c, MULTIPLY_ADD(z, -0.5f, 1.0f));
    return f32_of(f32_bits(q & 1u ? c : s) ^ (q & 2u) << 30);
}

/* Computed for |x|, so that the sign of -0 is kept. */
INLINE float sin_f32(float x)
{
    float a = __builtin_fabsf(x);
    float shifted = MULTIPLY_ADD(a, 0x1.45f306p-1f, ROUND_F32);
    float y = quarter_f32(reduced_f32(a, shifted - ROUND_F32), f32_bits(shifted));
    return f32_of(f32_bits(y) ^ (f32_bits(x) & 0x80000000u));
}

INLINE float cos_f32(float x)
{
    float a = __builtin_fabsf(x);
    float shifted = MULTIPLY_ADD(a, 0x1.45f306p-1f, ROUND_F32);
    return quarter_f32(reduced_f32(a, shifted - ROUND_F32), f32_bits(shifted) + 1u);
}

/* tanh |x| = t / (t + 2), t = e^2|x| - 1 = 2^k (e^r - 1) + 2^k - 1; from 10 on it is 1. */
INLINE float tanh_f32(float x)
{
    uint32_t k;
    float a = __builtin_fabsf(x);
    float part = exp_part_f32(2.0f * (a > 10.0f ? 10.0f : a), &k);
    float scale = f32_of((k + 127u) << 23);
    float t = MULTIPLY_ADD(scale, part, scale - 1.0f);
    return __builtin_copysignf(t / (t + 2.0f), x);
}

/* ---- f64 ----------------------------------------------------------------------------------- */

INLINE uint64_t f64_bits(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

INLINE double f64_of(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

#define LN2_HIGH_F64 0x1.62e42fefa3p-1
#define LN2_LOW_F64 0x1.3de6af278ece6p-42

#define ROUND_F64 0x1.8p52

/* x = k ln 2 + r + *lost, |r| <= ln 2 / 2: returns r and sets *exponent to k. */
INLINE double exp_reduced_f64(double x, uint64_t *exponent, double *lost)
{
    double shifted = MULTIPLY_ADD(x, 0x1.71547652b82fep+0, ROUND_F64);
    double k = shifted - ROUND_F64;
    double high = MULTIPLY_ADD(k, -LN2_HIGH_F64, x);
    double r = MULTIPLY_ADD(k, -LN2_LOW_F64, high);
    *lost = MULTIPLY_ADD(k, -LN2_LOW_F64, high - r);
    *exponent = f64_bits(shifted) - f64_bits(ROUND_F64);
    return r;
}

/* Like exp_part_f32; error 2^-58 of e^r. */
INLINE double exp_part_f64(double x, uint64_t *exponent)
{
    double lost, r = exp_reduced_f64(x, exponent, &lost);
    double q = 0x1.afd01944ca199p-26;
    q = MULTIPLY_ADD(q, r, 0x1.28b1490885dacp-22);
    q = MULTIPLY_ADD(q, r, 0x1.71ddb46efe4c6p-19);
    q = MULTIPLY_ADD(q, r, 0x1.a019958e67654p-16);
    q = MULTIPLY_ADD(q, r, 0x1.a01a01cc976dep-13);
    q = MULTIPLY_ADD(q, r, 0x1.6c16c18600631p-10);
    q = MULTIPLY_ADD(q, r, 0x1.111111110a707p-7);
    q = MULTIPLY_ADD(q, r, 0x1.555555554fec7p-5);
    q = MULTIPLY_ADD(q, r, 0x1.555555555556cp-3);
    q = MULTIPLY_ADD(q, r, 0x1.000000000000cp-1);
    return r + MULTIPLY_ADD(q, r * r, lost);
}

#define EXP_NORMAL_LIMIT_F64 708.0

INLINE double exp_normal_f64(double x)
{
    uint64_t k;
    double y = 1.0 + exp_part_f64(x, &k);
    return y * f64_of((k + 1023u) << 52);
}

INLINE double exp_f64(double x)
{
    uint64_t k;
    double bounded = x > 710.0 ? 710.0 : x;
    bounded = bounded < -746.0 ? -746.0 : bounded;
    double y = 1.0 + exp_part_f64(bounded, &k);
    uint64_t biased = k + 4096u;
    uint64_t half = biased >> 1;
    return y * f64_of((half - 2048u + 1023u) << 52) * f64_of((biased - half - 2048u + 1023u) << 52);
}

/*
 * Like log_part_f32, but ln m = 2 atanh s, s = z / (2 + z): an odd series in s, so half the terms
 * are enough. With R = s^2 P(s^2) it is z - (z^2/2 - s (z^2/2 + R)).
 */
INLINE double log_part_f64(double x, double scale)
{
    uint64_t bits = f64_bits(x) + (0x3ff0000000000000u - 0x3fe6a09e667f3bcdu);
    /* The exponent as a double without a conversion of 64-bit integers, which AVX2 does not have.
     */
    double e = f64_of(0x4330000000000000u | bits >> 52) - (0x1p52 + 1023.0) - scale;
    double z = f64_of((bits & 0xfffffffffffffu) + 0x3fe6a09e667f3bcdu) - 1.0;
    double s = z / (2.0 + z);
    double w = s * s;
    double p = 0x1.2f15e14baa0fap-3;
    p = MULTIPLY_ADD(p, w, 0x1.39a02ab83a952p-3);
    p = MULTIPLY_ADD(p, w, 0x1.74664da5add2ap-3);
    p = MULTIPLY_ADD(p, w, 0x1.c71c51c561f51p-3);
    p = MULTIPLY_ADD(p, w, 0x1.249249423fdd5p-2);
    p = MULTIPLY_ADD(p, w, 0x1.999999997f884p-2);
    p = MULTIPLY_ADD(p, w, 0x1.5555555555593p-1);
    double half_square = 0.5 * z * z;
    double correction = MULTIPLY_ADD(s, MULTIPLY_ADD(w, p, half_square), -half_square);
    double high = e * LN2_HIGH_F64;
    double sum = high + z;
    double rest = (high - sum) + z;
    return sum + (correction + MULTIPLY_ADD(e, LN2_LOW_F64, rest));
}

INLINE double log_normal_f64(double x)
{
    return log_part_f64(x, 0.0);
}

INLINE double log_f64(double x)
{
    int tiny = x < 0x1p-1022;
    double y = log_part_f64(x * (tiny ? 0x1p54 : 1.0), tiny ? 54.0 : 0.0);
    y = x == __builtin_inf() ? x : y;
    double outside = x == 0.0 ? -__builtin_inf() : __builtin_nan("");
    return x > 0.0 ? y : outside;
}

INLINE double sqrt_f64(double x)
{
    return __builtin_sqrt(x);
}

#define PERIODIC_LIMIT_F64 1e6

/* a + b as a rounded sum and its rounding error. */
INLINE double sum_f64(double a, double b, double *lost)
{
    double sum = a + b, part = sum - a;
    *lost = (a - (sum - part)) + (b - part);
    return sum;
}

/*
 * x - n pi/2, x >= 0, n the integer near x / (pi/2), below 2^20. *lost is the rounding error of
 * the result: together they have 20 bits more than the result even where it is smallest.
 */
INLINE double reduced_f64(double x, double n, double *lost)
{
    double lost1, lost2;
#if HAVE_FMA
    /* The first difference is exact: a multiple of 2^-53 below 1. */
    double r = MULTIPLY_ADD(n, -0x1.921fb54442d18p+0, x);
    double product = n * 0x1.1a62633145c07p-54;
    lost2 = -MULTIPLY_ADD(n, 0x1.1a62633145c07p-54, -product);
    r = sum_f64(r, -product, &lost1);
    double tail = MULTIPLY_ADD(n, 0x1.f1976b7ed8fbcp-110, lost1 + lost2);
#else
    /* Products of 20 and 33 bits are exact, and so is the first difference. */
    double r = x - n * 0x1.921fb544p+0;
    r = sum_f64(r, n * -0x1.0b4611a6p-34, &lost1);
    r = sum_f64(r, n * -0x1.3198a2e0p-69, &lost2);
    double tail = (lost1 + lost2) - n * 0x1.b839a252049c1p-104;
#endif
    double sum = r + tail;
    *lost = (r - sum) + tail;
    return sum;
}

/* sin(r + lost + q pi/2), |r| <= pi/4 (error 2^-57). */
INLINE double quarter_f64(double r, double lost, uint64_t q)
{
    double z = r * r, half = 0.5 * z, w = 1.0 - half;
    double s = 0x1.5d8b559164ecdp-33;
    s = MULTIPLY_ADD(s, z, -0x1.ae5e4b83de5fap-26);
    s = MULTIPLY_ADD(s, z, 0x1.71de35552b4fep-19);
    s = MULTIPLY_ADD(s, z, -0x1.a01a019be9217p-13);
    s = MULTIPLY_ADD(s, z, 0x1.111111110f730p-7);
    s = MULTIPLY_ADD(s, z, -0x1.5555555555548p-3);
    s = r + MULTIPLY_ADD(r * z, s, lost * w);
    double c = -0x1.8f99cb74fd4edp-37;
    c = MULTIPLY_ADD(c, z, 0x1.1ee9c3356c4f6p-29);
    c = MULTIPLY_ADD(c, z, -0x1.27e4f7cd31864p-22);
    c = MULTIPLY_ADD(c, z, 0x1.a01a019c5c392p-16);
    c = MULTIPLY_ADD(c, z, -0x1.6c16c16c14e00p-10);
    c = MULTIPLY_ADD(c, z, 0x1.555555555554ap-5);
    c = w + (((1.0 - w) - half) + MULTIPLY_ADD(z * z, c, -(r * lost)));
    return f64_of(f64_bits(q & 1u ? c : s) ^ (q & 2u) << 62);
}

INLINE double sin_f64(double x)
{
    double a = __builtin_fabs(x), lost;
    double shifted = MULTIPLY_ADD(a, 0x1.45f306dc9c883p-1, ROUND_F64);
    double r = reduced_f64(a, shifted - ROUND_F64, &lost);
    double y = quarter_f64(r, lost, f64_bits(shifted));
    return f64_of(f64_bits(y) ^ (f64_bits(x) & 0x8000000000000000u));
}

INLINE double cos_f64(double x)
{
    double a = __builtin_fabs(x), lost;
    double shifted = MULTIPLY_ADD(a, 0x1.45f306dc9c883p-1, ROUND_F64);
    double r = reduced_f64(a, shifted - ROUND_F64, &lost);
    return quarter_f64(r, lost, f64_bits(shifted) + 1u);
}

/* e^r - 1 to 2^-60 of itself, which exp_part_f64 is not near 0: the series. */
INLINE double expm1_part_f64(double x, uint64_t *exponent)
{
    double lost, r = exp_reduced_f64(x, exponent, &lost);
    double q = 0x1.93974a8c07c9dp-37;
    q = MULTIPLY_ADD(q, r, 0x1.6124613a86d09p-33);
    q = MULTIPLY_ADD(q, r, 0x1.1eed8eff8d898p-29);
    q = MULTIPLY_ADD(q, r, 0x1.ae64567f544e4p-26);
    q = MULTIPLY_ADD(q, r, 0x1.27e4fb7789f5cp-22);
    q = MULTIPLY_ADD(q, r, 0x1.71de3a556c734p-19);
    q = MULTIPLY_ADD(q, r, 0x1.a01a01a01a01ap-16);
    q = MULTIPLY_ADD(q, r, 0x1.a01a01a01a01ap-13);
    q = MULTIPLY_ADD(q, r, 0x1.6c16c16c16c17p-10);
    q = MULTIPLY_ADD(q, r, 0x1.1111111111111p-7);
    q = MULTIPLY_ADD(q, r, 0x1.5555555555555p-5);
    q = MULTIPLY_ADD(q, r, 0x1.5555555555555p-3);
    q = MULTIPLY_ADD(q, r, 0x1.0000000000000p-1);
    return r + MULTIPLY_ADD(q, r * r, lost);
}

/* Like tanh_f32; from 20 on it is 1. */
INLINE double tanh_f64(double x)
{
    uint64_t k;
    double a = __builtin_fabs(x);
    double part = expm1_part_f64(2.0 * (a > 20.0 ? 20.0 : a), &k);
    double scale = f64_of((k + 1023u) << 52);
    double t = MULTIPLY_ADD(scale, part, scale - 1.0);
    return __builtin_copysign(t / (t + 2.0), x);
}

#endif
