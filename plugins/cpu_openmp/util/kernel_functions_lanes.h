/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_functions_lanes.h - exp and log of 16 f32 at a time, for AVX-512 (HAVE_LANES is 1).
 *
 * kernel_functions.h is portable and leaves vectorisation to the compiler. Here tables are kept in registers, so
 * that polynomials are shorter. The instructions getexp, getmant and scalef handle every argument, even subnormal
 * numbers, infinities and NaN, so that there are no special cases. Tables and polynomials are our own; the errors
 * over all 2^32 arguments are at most 0.77 ulp for exp and 0.76 ulp for log (measured).
 */
#pragma once

#include "kernel_functions.h"
#include "kernel_level.h"

#if defined(__AVX512F__)
#define HAVE_LANES 1

#include <immintrin.h>

/* 2^(j / 16) rounded to f32, and the remainder. */
static const float exp_table[2][16] = {
    {0x1p+0f, 0x1.0b5586p+0f, 0x1.172b84p+0f, 0x1.2387a6p+0f, 0x1.306fep+0f, 0x1.3dea64p+0f,
     0x1.4bfdaep+0f, 0x1.5ab07ep+0f, 0x1.6a09e6p+0f, 0x1.7a1148p+0f, 0x1.8ace54p+0f, 0x1.9c4918p+0f,
     0x1.ae89fap+0f, 0x1.c199bep+0f, 0x1.d5818ep+0f, 0x1.ea4afap+0f},
    {0.0f, 0x1.9f3122p-25f, -0x1.c15742p-27f, 0x1.ceac48p-25f, 0x1.4636e2p-25f, 0x1.824684p-25f,
     -0x1.593abcp-25f, -0x1.5bd5ecp-27f, 0x1.9fcef4p-26f, -0x1.829fdp-25f, 0x1.15506ep-27f,
     0x1.51f848p-27f, -0x1.a94b14p-26f, -0x1.3d56b2p-27f, -0x1.822dbcp-27f, 0x1.52486cp-27f},
};

/* x = k ln 2 + r, where k is a multiple of 1/16 and |r| <= ln 2 / 32. So e^x = 2^floor(k) T e^r, where
 * T = 2^(k - floor(k)) is from the table. (e^r - 1 - r) / r^2 is approximated by a straight line (relative
 * error of e^r: 2^-29). Adding 1.5 * 2^19 rounds to a multiple of 1/16; the low bits are the table's index. */
INLINE __m512 exp_lanes_f32(__m512 x)
{
    const __m512 round = _mm512_set1_ps(0x1.8p19f);
    /* For x beyond these limits the result is infinity or 0 anyway. x is the second argument of min and max, so
     * that NaN propagates. */
    __m512 bounded = _mm512_min_ps(_mm512_set1_ps(89.0f), x);
    bounded = _mm512_max_ps(_mm512_set1_ps(-104.0f), bounded);
    __m512 shifted = _mm512_fmadd_ps(bounded, _mm512_set1_ps(0x1.715476p+0f), round);
    __m512 k = _mm512_sub_ps(shifted, round);
    __m512i index = _mm512_castps_si512(shifted);
    __m512 t = _mm512_permutexvar_ps(index, _mm512_loadu_ps(exp_table[0]));
    __m512 rest = _mm512_permutexvar_ps(index, _mm512_loadu_ps(exp_table[1]));
    __m512 r = _mm512_fnmadd_ps(k, _mm512_set1_ps(LN2_HIGH_F32), bounded);
    r = _mm512_fnmadd_ps(k, _mm512_set1_ps(LN2_LOW_F32), r);
    __m512 q = _mm512_fmadd_ps(_mm512_set1_ps(0x1.555744p-3f), r, _mm512_set1_ps(0x1.00022p-1f));
    __m512 p = _mm512_fmadd_ps(q, _mm512_mul_ps(r, r), r);
    return _mm512_scalef_ps(_mm512_add_ps(t, _mm512_fmadd_ps(t, p, rest)), k);
}

/* Tables with index j, the upper five bits of the fraction of m in [1, 2): c, which is near 1 / m, and -ln c
 * as the sum of a multiple of 2^-17 and a remainder. j and j + 16 share one remainder. For j < 8 and
 * j >= 24, where x may be near 1, c is a multiple of 1/128, and m c - 1 is exact. For the other j, c was
 * found by a search among all numbers near 1 / m, so that the remainders of j and j + 16 differ by only
 * 2^-30. Near x = 1, c is 1 or 1/2, and the two parts of -ln c are 0 or ln 2, so that ln x loses no digits. */
static const float log_inverse[32] = {
    0x1p+0f,        0x1.e8p-1f,     0x1.d8p-1f,     0x1.dp-1f,      0x1.cp-1f,      0x1.b8p-1f,
    0x1.a8p-1f,     0x1.ap-1f,      0x1.945d3cp-1f, 0x1.8a714p-1f,  0x1.82640ap-1f, 0x1.7866ecp-1f,
    0x1.70a004p-1f, 0x1.683aacp-1f, 0x1.604e28p-1f, 0x1.597f12p-1f, 0x1.51917p-1f,  0x1.4ad34p-1f,
    0x1.44dbd6p-1f, 0x1.3e942cp-1f, 0x1.37e6bep-1f, 0x1.32c3acp-1f, 0x1.2c583ap-1f, 0x1.27913p-1f,
    0x1.2p-1f,      0x1.1cp-1f,     0x1.18p-1f,     0x1.14p-1f,     0x1.1p-1f,      0x1.0cp-1f,
    0x1p-1f,        0x1p-1f};
static const float log_upper[32] = {
    0.0f,         0x1.895p-5f,  0x1.4d3p-4f,  0x1.9338p-4f, 0x1.1178p-3f, 0x1.366p-3f,
    0x1.823cp-3f, 0x1.a94p-3f,  0x1.e358p-3f, 0x1.0b1cp-2f, 0x1.203cp-2f, 0x1.3b0ep-2f,
    0x1.506ep-2f, 0x1.6806p-2f, 0x1.7eccp-2f, 0x1.92c8p-2f, 0x1.aa8ep-2f, 0x1.bf38p-2f,
    0x1.d1dap-2f, 0x1.e5d8p-2f, 0x1.fb88p-2f, 0x1.0645p-1f, 0x1.1119p-1f, 0x1.194fp-1f,
    0x1.2696p-1f, 0x1.2dbfp-1f, 0x1.3503p-1f, 0x1.3c61p-1f, 0x1.43dap-1f, 0x1.4b7p-1f,
    0x1.62e4p-1f, 0x1.62e4p-1f};
static const float log_rest[16] = {0.0f,
                                   -0x1.57ad82p-19f,
                                   0x1.15d208p-20f,
                                   -0x1.0d1536p-19f,
                                   0x1.d044fcp-20f,
                                   -0x1.a7f538p-22f,
                                   0x1.6551a4p-23f,
                                   -0x1.2c3752p-19f,
                                   0x1.089a6ep-20f,
                                   0x1.55ec38p-19f,
                                   -0x1.d4989cp-19f,
                                   -0x1.fcf25p-19f,
                                   -0x1.a0db88p-26f,
                                   -0x1.48347ap-20f,
                                   0x1.7f7d1cp-20f,
                                   0x1.7f7d1cp-20f};

/* For each lane: the entry of a table of 32 numbers at index mod 32. */
INLINE __m512 look_up_32(const float *table, __m512i index)
{
    __m512 first = _mm512_loadu_ps(table), second = _mm512_loadu_ps(table + 16);
    return _mm512_permutex2var_ps(first, index, second);
}

/* Without optimisation, gcc 12 implements getmant and getexp as macros whose masks cause -Wsign-conversion. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-conversion"

/* x = 2^e m, so ln x = (e ln 2 - ln c) + ln(1 + r), where r = m c - 1 and |r| <= 1/32. The upper parts of
 * e ln 2 and -ln c add exactly. (ln(1 + r) - r) / r^2 is approximated by a polynomial (relative error of
 * ln(1 + r): 2^-31). For x = 0 and infinity, e is -infinity and infinity, and m is 1. */
INLINE __m512 log_lanes_f32(__m512 x)
{
    __m512 m = _mm512_getmant_ps(x, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_nan);
    __m512 e = _mm512_getexp_ps(x);
    __m512i index = _mm512_srli_epi32(_mm512_castps_si512(m), 18);
    __m512 rest = _mm512_permutexvar_ps(index, _mm512_loadu_ps(log_rest));
    __m512 r = _mm512_fmsub_ps(m, look_up_32(log_inverse, index), _mm512_set1_ps(1.0f));
    __m512 sum = _mm512_fmadd_ps(e, _mm512_set1_ps(LN2_HIGH_F32), look_up_32(log_upper, index));
    __m512 low = _mm512_fmadd_ps(e, _mm512_set1_ps(LN2_LOW_F32), rest);
    __m512 q = _mm512_set1_ps(0x1.9a12ap-3f);
    q = _mm512_fmadd_ps(q, r, _mm512_set1_ps(-0x1.00353ep-2f));
    q = _mm512_fmadd_ps(q, r, _mm512_set1_ps(0x1.55555p-2f));
    q = _mm512_fmadd_ps(q, r, _mm512_set1_ps(-0x1.fffffcp-2f));
    __m512 p = _mm512_fmadd_ps(q, _mm512_mul_ps(r, r), low);
    return _mm512_add_ps(sum, _mm512_add_ps(r, p));
}

#pragma GCC diagnostic pop

#else
#define HAVE_LANES 0
#endif
