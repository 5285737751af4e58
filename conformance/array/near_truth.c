/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of real numbers with an error limit, computed by the C library in long double. The result must not come from
 * a function that a backend calls. cpu_scalar calls the C library's sinl, cosl, logl and cbrtl, so this file computes these
 * four by series. It also calls sqrtl and rintl, which are correctly rounded.
 * Tests: tests/conformance/test_truth.c */
#include "truth.h"

#include <math.h>
#include <stdbool.h>

#include "kit.h"

typedef long double ld;

#define LN2_HIGH 0xb17217f8p-32L /* 32 bits, so that its product with an exponent is exact */
#define LN2_LOW -0xb8c21950d87131a0p-98L
#define PI 0xc90fdaa22168c235p-62L

/* ln((1 + s) / (1 - s)), |s| <= 0.2 */
static ld log_ratio(ld s)
{
    ld square = s * s, sum = 0;
    for (int n = 33; n > 0; n -= 2)
        sum = sum * square + 1 / (ld)n;
    return 2 * s * sum;
}

/* x = 2^*e m, 1/sqrt 2 <= m < sqrt 2 */
static ld mantissa(ld x, int *e)
{
    ld m = frexpl(x, e);
    if (m < 0.70710678L) {
        m *= 2;
        --*e;
    }
    return m;
}

static ld series_log(ld x)
{
    if (!(x > 0) || isinf(x))
        return x == 0 ? -(ld)INFINITY : x > 0 ? x : (ld)NAN;
    int e;
    ld m = mantissa(x, &e);
    return e * LN2_HIGH + (e * LN2_LOW + log_ratio((m - 1) / (m + 1)));
}

/* 2 / pi: word i has the bits of weight 2^-32(i + 1). */
static const uint32_t two_over_pi[] = {
    0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561,
    0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e, 0xe88235f5, 0x2ebb4484,
    0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b, 0x1ff897ff, 0xde05980f,
    0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7, 0x4f463f66, 0x9e5fea2d, 0x7527bac7, 0xebe5f17b,
    0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08, 0x56033046, 0xfc7b6bab, 0xf0cfbc20, 0x9af4361d,
    0xa9e39161, 0x5ee61b08, 0x6599855f, 0x14a06840,
};

enum { WORDS = sizeof two_over_pi / sizeof *two_over_pi, DIGITS = 9 };

/* x in quarter turns: digit[0] is their number modulo 2^32, digit[k] has the bits of weight 2^-32k. x has at
 * most 64 significant bits. */
static void quarter_turns(ld x, uint32_t digit[DIGITS])
{
    int e;
    uint64_t m = (uint64_t)ldexpl(frexpl(x, &e), 64);
    e -= 64;
    int shift = ((e % 32) + 32) % 32, words = (e - shift) / 32;
    const uint32_t a[3] = {(uint32_t)(m << shift), (uint32_t)(m << shift >> 32),
                           shift ? (uint32_t)(m >> (64 - shift)) : 0};
    uint64_t carry = 0;
    for (int k = DIGITS; k >= 0; k--) { /* one more digit, for its carry */
        uint64_t low = carry & 0xffffffff, high = carry >> 32;
        for (int j = 0; j < 3; j++) {
            int i = j + words - 1 + k;
            uint64_t product = i >= 0 && i < WORDS ? (uint64_t)a[j] * two_over_pi[i] : 0;
            low += product & 0xffffffff;
            high += product >> 32;
        }
        if (k < DIGITS)
            digit[k] = (uint32_t)low;
        carry = high + (low >> 32);
    }
}

/* Writes x >= 0 as q pi/2 + r with |r| <= pi/4; returns r and q modulo 4. */
static ld reduced(ld x, unsigned *q)
{
    uint32_t digit[DIGITS];
    *q = 0;
    if (x < 0.785L)
        return x;
    quarter_turns(x, digit);
    bool up = digit[1] >> 31;
    ld rest = 0;
    for (int k = DIGITS - 1; k > 0; k--)
        rest += ldexpl((ld)(up ? ~digit[k] : digit[k]), -32 * k);
    *q = (digit[0] + up) & 3;
    return (up ? -rest : rest) * (PI / 2);
}

static ld sine(ld x)
{
    ld sum = 1;
    for (int n = 26; n > 0; n -= 2)
        sum = 1 - x * x / (n * (n + 1)) * sum;
    return x * sum;
}

static ld cosine(ld x)
{
    ld sum = 1;
    for (int n = 25; n > 0; n -= 2)
        sum = 1 - x * x / (n * (n + 1)) * sum;
    return sum;
}

/* part 0: sin x; 1: cos x; 2: tan x. */
static ld series_periodic(ld x, int part)
{
    unsigned q;
    if (!isfinite(x))
        return (ld)NAN;
    ld r = reduced(fabsl(x), &q), s = q & 1 ? cosine(r) : sine(r), c = q & 1 ? sine(r) : cosine(r);
    s = q & 2 ? -s : s;
    c = (q + 1) & 2 ? -c : c;
    s = signbit(x) ? -s : s;
    return part == 0 ? s : part == 1 ? c : s / c;
}

/* sin(pi t), |t| <= 1/2. */
static ld series_sinpi(ld t)
{
    return fabsl(t) <= 0.25L ? sine(PI * t) : copysignl(cosine(PI * (0.5L - fabsl(t))), t);
}

/* A b of at least 2^63 is even, so the sign of an infinite a does not matter. glibc's powl(-inf, -0x1p63) is wrong:
 * inf. */
static ld pow_of(ld a, ld b)
{
    return powl(isinf(a) && fabsl(b) >= 0x1p63L ? fabsl(a) : a, b);
}

static ld cbrt_of(ld x)
{
    ld a = fabsl(x), y = expl(series_log(a) / 3);
    return x == 0 || !isfinite(x) ? x : copysignl(y - (y - a / (y * y)) / 3, x);
}

static ld expit_of(ld x)
{
    ld e = expl(-fabsl(x));
    return (x < 0 ? e : 1) / (1 + e);
}

static ld sinc_of(ld x)
{
    if (!isfinite(x))
        return (ld)NAN;
    ld a = fabsl(x), n = a < 0x1p62L ? (ld)(int64_t)(a + 0.5L) : a;
    ld size = a == 0 ? 1 : series_sinpi(a - n) / (PI * a);
    return fmodl(n, 2) != 0 ? -size : size;
}

static ld logaddexp_of(ld a, ld b)
{
    ld larger = a > b ? a : b, smaller = a > b ? b : a;
    if (isnan(a) || isnan(b))
        return (ld)NAN;
    return isinf(a) || isinf(b) ? larger : larger + log1pl(expl(smaller - larger));
}

ld truth_near(uint32_t op, const ld x[3])
{
    int sign;
    switch (op) {
#define CASE(NAME, value)                                                                          \
    case COLLET_OP_##NAME:                                                                         \
        return (value);
        CASE(EXP, expl(x[0]))
        CASE(EXP2, exp2l(x[0]))
        CASE(EXPM1, expm1l(x[0]))
        CASE(LOG, series_log(x[0]))
        CASE(LOG1P, log1pl(x[0]))
        CASE(LOG2, log2l(x[0]))
        CASE(LOG10, log10l(x[0]))
        CASE(LOGADDEXP, logaddexp_of(x[0], x[1]))
        CASE(SQRT, sqrtl(x[0]))
        CASE(SIN, series_periodic(x[0], 0))
        CASE(COS, series_periodic(x[0], 1))
        CASE(TAN, series_periodic(x[0], 2))
        CASE(ASIN, asinl(x[0]))
        CASE(ACOS, acosl(x[0]))
        CASE(ATAN, atanl(x[0]))
        CASE(ATAN2, atan2l(x[0], x[1]))
        CASE(SINH, sinhl(x[0]))
        CASE(COSH, coshl(x[0]))
        CASE(TANH, tanhl(x[0]))
        CASE(ASINH, asinhl(x[0]))
        CASE(ACOSH, acoshl(x[0]))
        CASE(ATANH, atanhl(x[0]))
        CASE(HYPOT, hypotl(x[0], x[1]))
        CASE(CBRT, cbrt_of(x[0]))
        CASE(POW, pow_of(x[0], x[1]))
        CASE(ERF, erfl(x[0]))
        CASE(ERFC, erfcl(x[0]))
        CASE(EXPIT, expit_of(x[0]))
        CASE(LGAMMA, lgammal_r(x[0], &sign))
        CASE(SINC, sinc_of(x[0]))
    default:
        return (ld)NAN;
    }
}

ld kit_function(uint32_t op, ld x)
{
    return truth_near(op, (const ld[3]){x, 0, 0});
}

ld kit_sin(ld x)
{
    return series_periodic(x, 0);
}

ld kit_cos(ld x)
{
    return series_periodic(x, 1);
}

ld kit_log(ld x)
{
    return series_log(x);
}

ld kit_acos(ld x)
{
    return acosl(x);
}

ld kit_atan2(ld y, ld x)
{
    return atan2l(y, x);
}
