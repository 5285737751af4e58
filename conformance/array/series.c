/* SPDX-License-Identifier: Apache-2.0 */
/* Elementary functions in long double by their series, slowly and plainly; of the C library only the exact
 * frexp, ldexp and the basic operation sqrt.
 * Tests: tests/conformance/test_truth.c */
#include "truth.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

typedef long double ld;

#define LN2 0xb17217f7d1cf79acp-64L
#define LN2_HIGH 0xb17217f8p-32L /* 32 bits, so that its product with an exponent is exact */
#define LN2_LOW -0xb8c21950d87131a0p-98L
#define PI 0xc90fdaa22168c235p-62L
#define INFINITE ((ld)INFINITY)
#define NOT_A_NUMBER ((ld)NAN)

static ld nearest(ld x)
{
    return (ld)(int64_t)(x + (x < 0 ? -0.5L : 0.5L));
}

/* ---- Exponentials ---------------------------------------------------------------------------- */

/* (e^x - 1) / x, |x| <= 1/2 */
static ld growth(ld x)
{
    ld sum = 1;
    for (int n = 22; n > 1; n--)
        sum = 1 + x / n * sum;
    return sum;
}

ld series_exp(ld x)
{
    if (!(fabsl(x) < 11000))
        return x > 0 ? INFINITE : x < 0 ? 0 : x + 1;
    ld k = nearest(x / LN2), r = (x - k * LN2_HIGH) - k * LN2_LOW;
    return ldexpl(1 + r * growth(r), (int)k);
}

ld series_expm1(ld x)
{
    return fabsl(x) < 0.5L ? x * growth(x) : series_exp(x) - 1;
}

/* ---- Logarithms ------------------------------------------------------------------------------ */

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

ld series_log(ld x)
{
    if (!(x > 0) || isinf(x))
        return x == 0 ? -INFINITE : x > 0 ? x : NOT_A_NUMBER;
    int e;
    ld m = mantissa(x, &e);
    return e * LN2_HIGH + (e * LN2_LOW + log_ratio((m - 1) / (m + 1)));
}

ld series_log1p(ld x)
{
    return fabsl(x) < 0.4L ? (x == 0 ? x : log_ratio(x / (2 + x))) : series_log(1 + x);
}

/* ---- Trigonometric functions ----------------------------------------------------------------- */

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

/* x >= 0 as q pi/2 + r, |r| <= pi/4: returns r and q modulo 4. */
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

ld series_periodic(ld x, int part)
{
    unsigned q;
    if (!isfinite(x))
        return NOT_A_NUMBER;
    ld r = reduced(fabsl(x), &q), s = q & 1 ? cosine(r) : sine(r), c = q & 1 ? sine(r) : cosine(r);
    s = q & 2 ? -s : s;
    c = (q + 1) & 2 ? -c : c;
    s = signbit(x) ? -s : s;
    return part == 0 ? s : part == 1 ? c : s / c;
}

ld series_sinpi(ld t)
{
    return fabsl(t) <= 0.25L ? sine(PI * t) : copysignl(cosine(PI * (0.5L - fabsl(t))), t);
}

ld series_atan(ld x)
{
    ld a = fabsl(x), base = a > 2.5L ? PI / 2 : a > 0.4L ? PI / 4 : 0;
    ld t = a > 2.5L ? -1 / a : a > 0.4L ? (a - 1) / (a + 1) : a;
    if (isnan(x))
        return x;
    t /= 1 + sqrtl(1 + t * t); /* the tangent of half the angle */
    ld square = t * t, sum = 0;
    for (int n = 41; n > 0; n -= 2)
        sum = 1 / (ld)n - square * sum;
    return copysignl(base + 2 * t * sum, x);
}

/* ---- The error function and lgamma ----------------------------------------------------------- */

#define INVERSE_ROOT_PI 0x906eba8214db688dp-64L

/* e^(-x^2) with the rounding error of the square */
static ld bell(ld x)
{
    ld high = (ld)(float)x;
    return series_exp(-high * high) * series_exp(-(x - high) * (x + high));
}

/* A sum of positive terms. */
static ld erf_sum(ld x)
{
    ld term = x, sum = 0;
    for (int n = 1; n < 90; n++) {
        sum += term;
        term *= 2 * x * x / (2 * n + 1);
    }
    return 2 * INVERSE_ROOT_PI * bell(x) * sum;
}

ld series_erfc(ld x)
{
    if (!(x < 200))
        return x > 0 ? 0 : x;
    if (x < 1)
        return x < 0 ? 1 + series_erf(-x) : 1 - erf_sum(x);
    ld fraction = x;
    for (int n = 40 + (int)(400 / (x * x)); n > 0; n--)
        fraction = x + n / (2 * fraction);
    return bell(x) * INVERSE_ROOT_PI / fraction;
}

ld series_erf(ld x)
{
    ld a = fabsl(x);
    if (a < 0x1p-40L)
        return x * (2 * INVERSE_ROOT_PI);
    return isnan(x) ? x : copysignl(a < 1 ? erf_sum(a) : 1 - series_erfc(a), x);
}

/* Stirling's series for x >= 16; the recurrence lgamma(x) = lgamma(x + 1) - ln x moves smaller x there. */
static ld lgamma_positive(ld x)
{
    static const ld terms[] = {1.0L / 12,    -1.0L / 360,       1.0L / 1260,
                               -1.0L / 1680, 1.0L / 1188,       -691.0L / 360360,
                               1.0L / 156,   -3617.0L / 122400, 43867.0L / 244188};
    ld product = 1, sum = 0;
    for (; x < 16; x += 1)
        product *= x;
    for (int k = (int)(sizeof terms / sizeof *terms) - 1; k >= 0; k--)
        sum = sum / (x * x) + terms[k];
    return (x - 0.5L) * (series_log(x) - 1) + (0xeb3f8e4325f5a535p-64L - 0.5L) + sum / x -
           series_log(product);
}

ld series_lgamma(ld x)
{
    if (isinf(x) || isnan(x))
        return x * x;
    ld t = fabsl(x) < 0x1p62L ? x - nearest(x) : 0;
    if (x > 0)
        return x == 1 || x == 2 ? 0 : lgamma_positive(x);
    if (t == 0)
        return INFINITE;
    return series_log(PI / fabsl(x * series_sinpi(t))) - lgamma_positive(-x);
}

/* ---- Powers ---------------------------------------------------------------------------------- */

#if __LDBL_MANT_DIG__ == 113
typedef long double wide;
#else
__extension__ typedef __float128 wide;
#endif

/* |a|^b. The logarithm is accurate to 2^-100, because b multiplies its error. */
static ld power(ld a, ld b)
{
    const wide inverse_ln2 = (wide)0xb8aa3b295c17f0bcp-63L - (wide)0x82f0025f2dc582eep-128L;
    int e;
    ld m = mantissa(a, &e);
    wide s = ((wide)m - 1) / ((wide)m + 1), sum = 0;
    for (int n = 41; n > 0; n -= 2)
        sum = sum * s * s + 1 / (wide)n;
    wide exponent = (2 * s * sum * inverse_ln2 + e) * b;
    if (!(exponent < 16000 && exponent > -16000))
        return exponent > 0 ? INFINITE : 0;
    ld k = nearest((ld)exponent);
    return ldexpl(series_exp((ld)(exponent - k) * LN2), (int)k);
}

ld series_pow(ld a, ld b)
{
    if (b == 0 || a == 1)
        return 1;
    if (isnan(a) || isnan(b))
        return NOT_A_NUMBER;
    bool whole = fabsl(b) >= 0x1p62L || b == nearest(b);
    bool odd = fabsl(b) < 0x1p62L && whole && (int64_t)b % 2 != 0;
    ld sign = signbit(a) && odd ? -1 : 1, size = fabsl(a);
    if (size == 1 && isinf(b))
        return 1;
    if (isinf(b) || size == 0 || isinf(size))
        return (size > 1) == (b > 0) ? sign * INFINITE : sign * 0;
    return a < 0 && !whole ? NOT_A_NUMBER : sign * power(size, b);
}
