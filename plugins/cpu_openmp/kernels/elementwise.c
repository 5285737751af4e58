/* SPDX-License-Identifier: Apache-2.0 */
#include "elementwise.h"

#include <string.h>

#include "level.h"

enum { ADD, SUB, MUL, DIV, EXP, LOG, SQRT };

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

/* e^x = 2^k e^r, |r| <= ln 2 / 2; (e^r - 1 - r) / r^2 by a minimax polynomial (error 2^-28). */
INLINE float exp_f32(float x)
{
    /* Beyond these the result is infinity or 0 all the same, and k stays small. NaN passes. */
    float bounded = x > 89.0f ? 89.0f : x;
    bounded = bounded < -104.0f ? -104.0f : bounded;
    /* 1.5 * 2^23: adding it rounds to an integer, which then stands in the low bits. */
    const float round = 0x1.8p23f;
    float shifted = MULTIPLY_ADD(bounded, 0x1.715476p+0f, round);
    float k = shifted - round;
    float high = MULTIPLY_ADD(k, -LN2_HIGH_F32, bounded);
    float r = MULTIPLY_ADD(k, -LN2_LOW_F32, high);
    /* What rounding took from r: without it the error would pass 1 ulp. */
    float lost = MULTIPLY_ADD(k, -LN2_LOW_F32, high - r);
    float q = 0x1.6df7eep-10f;
    q = MULTIPLY_ADD(q, r, 0x1.123d10p-7f);
    q = MULTIPLY_ADD(q, r, 0x1.555418p-5f);
    q = MULTIPLY_ADD(q, r, 0x1.55548cp-3f);
    q = MULTIPLY_ADD(q, r, 0.5f);
    float y = 1.0f + (r + MULTIPLY_ADD(q, r * r, lost));
    /* 2^k in two factors, neither of which overflows; only the second product can round. */
    uint32_t biased = f32_bits(shifted) - f32_bits(round) + 512u;
    uint32_t half = biased >> 1;
    return y * f32_of((half - 256u + 127u) << 23) * f32_of((biased - half - 256u + 127u) << 23);
}

/* x = 2^e m, sqrt(1/2) <= m < sqrt(2); with z = m - 1, ln m = z - z^2/2 + z^3 P(z). */
INLINE float log_f32(float x)
{
    int tiny = x < 0x1p-126f;
    uint32_t bits = f32_bits(x * (tiny ? 0x1p23f : 1.0f)) + (0x3f800000u - 0x3f3504f3u);
    float e = (float)((int32_t)(bits >> 23) - 127) - (tiny ? 23.0f : 0.0f);
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
    float y = sum + MULTIPLY_ADD(p, z * z, MULTIPLY_ADD(e, LN2_LOW_F32, rest));
    y = x == __builtin_inff() ? x : y;
    float outside = x == 0.0f ? -__builtin_inff() : __builtin_nanf("");
    return x > 0.0f ? y : outside;
}

INLINE float sqrt_f32(float x)
{
    return __builtin_sqrtf(x);
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

/* As exp_f32; minimax error 2^-58. */
INLINE double exp_f64(double x)
{
    double bounded = x > 710.0 ? 710.0 : x;
    bounded = bounded < -746.0 ? -746.0 : bounded;
    const double round = 0x1.8p52;
    double shifted = MULTIPLY_ADD(bounded, 0x1.71547652b82fep+0, round);
    double k = shifted - round;
    double high = MULTIPLY_ADD(k, -LN2_HIGH_F64, bounded);
    double r = MULTIPLY_ADD(k, -LN2_LOW_F64, high);
    double lost = MULTIPLY_ADD(k, -LN2_LOW_F64, high - r);
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
    double y = 1.0 + (r + MULTIPLY_ADD(q, r * r, lost));
    uint64_t biased = f64_bits(shifted) - f64_bits(round) + 4096u;
    uint64_t half = biased >> 1;
    return y * f64_of((half - 2048u + 1023u) << 52) * f64_of((biased - half - 2048u + 1023u) << 52);
}

/*
 * As log_f32, but ln m = 2 atanh s, s = z / (2 + z): an odd series in s of which half the terms do.
 * With R = s^2 P(s^2) it is z - (z^2/2 - s (z^2/2 + R)).
 */
INLINE double log_f64(double x)
{
    int tiny = x < 0x1p-1022;
    uint64_t bits =
        f64_bits(x * (tiny ? 0x1p54 : 1.0)) + (0x3ff0000000000000u - 0x3fe6a09e667f3bcdu);
    /* The exponent as a double without a conversion of 64-bit integers, which AVX2 has not. */
    double e = f64_of(0x4330000000000000u | bits >> 52) - (0x1p52 + 1023.0) - (tiny ? 54.0 : 0.0);
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
    double y = sum + (correction + MULTIPLY_ADD(e, LN2_LOW_F64, rest));
    y = x == __builtin_inf() ? x : y;
    double outside = x == 0.0 ? -__builtin_inf() : __builtin_nan("");
    return x > 0.0 ? y : outside;
}

INLINE double sqrt_f64(double x)
{
    return __builtin_sqrt(x);
}

/* ---- Rows ---------------------------------------------------------------------------------- */

#define REAL float
#define NAME(x) x##_f32
#include "elementwise.inc"

#define REAL double
#define NAME(x) x##_f64
#include "elementwise.inc"

extern const elementwise_kernels LEVEL_NAME(elementwise);
const elementwise_kernels LEVEL_NAME(elementwise) = {
    .add = {row_add_f32, row_add_f64},
    .sub = {row_sub_f32, row_sub_f64},
    .mul = {row_mul_f32, row_mul_f64},
    .div = {row_div_f32, row_div_f64},
    .exp = {row_exp_f32, row_exp_f64},
    .log = {row_log_f32, row_log_f64},
    .sqrt = {row_sqrt_f32, row_sqrt_f64},
};
