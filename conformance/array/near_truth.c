/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of real numbers with a limit, from the series.
 * Tests: tests/conformance/test_truth.c */
#include "truth.h"

#include <math.h>

#include "kit.h"

typedef long double ld;

#define LN2 0xb17217f7d1cf79acp-64L
#define PI 0xc90fdaa22168c235p-62L
#define INVERSE_LN2 0xb8aa3b295c17f0bcp-63L
#define INVERSE_LN10 0xde5bd8a937287195p-65L

static ld exp2_of(ld x)
{
    ld whole = fabsl(x) < 20000 ? (ld)(int)x : 0;
    return fabsl(x) < 20000 ? ldexpl(series_exp((x - whole) * LN2), (int)whole) : series_exp(x);
}

/* Exact powers of two have an exact logarithm. */
static ld log2_of(ld x)
{
    int e = 0;
    ld m = isfinite(x) && x > 0 ? frexpl(x, &e) : x;
    if (isfinite(x) && x > 0 && m < 0.75L) {
        m *= 2;
        e--;
    }
    return e + series_log(m) * INVERSE_LN2;
}

static ld sinh_of(ld x)
{
    ld e = series_expm1(fabsl(x));
    return copysignl(isinf(e) ? e : (e + e / (e + 1)) / 2, x);
}

static ld cosh_of(ld x)
{
    ld e = series_exp(fabsl(x));
    return (e + 1 / e) / 2;
}

static ld tanh_of(ld x)
{
    ld e = series_expm1(2 * fabsl(x));
    return copysignl(isinf(e) ? 1 : e / (e + 2), x);
}

static ld asinh_of(ld x)
{
    ld a = fabsl(x);
    ld y = a > 0x1p40L ? series_log(a) + LN2 : series_log1p(a + a * a / (1 + sqrtl(1 + a * a)));
    return copysignl(y, x);
}

static ld acosh_of(ld x)
{
    ld t = x - 1;
    return x > 0x1p40L ? series_log(x) + LN2
           : t >= 0    ? series_log1p(t + sqrtl(2 * t + t * t))
                       : (ld)NAN;
}

static ld atanh_of(ld x)
{
    ld a = fabsl(x);
    return a > 1 ? (ld)NAN
                 : copysignl(a == 1 ? (ld)INFINITY : series_log1p(2 * a / (1 - a)) / 2, x);
}

static ld asin_of(ld x)
{
    return fabsl(x) > 1 ? (ld)NAN : series_atan(x / sqrtl((1 - x) * (1 + x)));
}

static ld acos_of(ld x)
{
    return fabsl(x) > 1 ? (ld)NAN : 2 * series_atan(sqrtl((1 - x) / (1 + x)));
}

/* Two infinite coordinates count as equal. */
static ld atan2_of(ld y, ld x)
{
    if (isnan(x) || isnan(y))
        return (ld)NAN;
    if (isinf(x) || isinf(y)) {
        x = copysignl(isinf(x) ? 1 : 0, x);
        y = copysignl(isinf(y) ? 1 : 0, y);
    }
    ld angle = x == 0 && y == 0 ? 0 : series_atan(fabsl(y) / fabsl(x));
    return copysignl(signbit(x) ? PI - angle : angle, y);
}

static ld hypot_of(ld a, ld b)
{
    return isinf(a) || isinf(b) ? (ld)INFINITY : sqrtl(a * a + b * b);
}

static ld cbrt_of(ld x)
{
    ld a = fabsl(x), y = series_exp(series_log(a) / 3);
    return x == 0 || !isfinite(x) ? x : copysignl(y - (y - a / (y * y)) / 3, x);
}

static ld expit_of(ld x)
{
    ld e = series_exp(-fabsl(x));
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
    return isinf(a) || isinf(b) ? larger : larger + series_log1p(series_exp(smaller - larger));
}

ld truth_near(uint32_t op, const ld x[3])
{
    switch (op) {
#define CASE(NAME, value)                                                                          \
    case COLLET_OP_##NAME:                                                                         \
        return (value);
        CASE(EXP, series_exp(x[0]))
        CASE(EXP2, exp2_of(x[0]))
        CASE(EXPM1, series_expm1(x[0]))
        CASE(LOG, series_log(x[0]))
        CASE(LOG1P, series_log1p(x[0]))
        CASE(LOG2, log2_of(x[0]))
        CASE(LOG10, series_log(x[0]) * INVERSE_LN10)
        CASE(LOGADDEXP, logaddexp_of(x[0], x[1]))
        CASE(SQRT, sqrtl(x[0]))
        CASE(SIN, series_periodic(x[0], 0))
        CASE(COS, series_periodic(x[0], 1))
        CASE(TAN, series_periodic(x[0], 2))
        CASE(ASIN, asin_of(x[0]))
        CASE(ACOS, acos_of(x[0]))
        CASE(ATAN, series_atan(x[0]))
        CASE(ATAN2, atan2_of(x[0], x[1]))
        CASE(SINH, sinh_of(x[0]))
        CASE(COSH, cosh_of(x[0]))
        CASE(TANH, tanh_of(x[0]))
        CASE(ASINH, asinh_of(x[0]))
        CASE(ACOSH, acosh_of(x[0]))
        CASE(ATANH, atanh_of(x[0]))
        CASE(HYPOT, hypot_of(x[0], x[1]))
        CASE(CBRT, cbrt_of(x[0]))
        CASE(POW, series_pow(x[0], x[1]))
        CASE(ERF, series_erf(x[0]))
        CASE(ERFC, series_erfc(x[0]))
        CASE(EXPIT, expit_of(x[0]))
        CASE(LGAMMA, series_lgamma(x[0]))
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
    return acos_of(x);
}

ld kit_atan2(ld y, ld x)
{
    return atan2_of(y, x);
}
