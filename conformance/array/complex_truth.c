/* SPDX-License-Identifier: Apache-2.0 */
/* Elementary functions of complex numbers by the C library in long double.
 * Tests: tests/conformance/test_kit.c, python/tests/op/test_elementwise.py */
#include "truth.h"

#include <complex.h>
#include <math.h>

typedef long double _Complex number;

static number of(long double re, long double im)
{
    return __builtin_complex(re, im);
}

/* Computes e^z - 1 and ln(1 + z) as sums without cancellation, for a z so small that 1 + z would be rounded. */
static number less_one(number z)
{
    long double x = creall(z), y = cimagl(z), s = sinl(y / 2);
    if (!(fabsl(x) < 1))
        return cexpl(z) - 1;
    return of(expm1l(x) * cosl(y) - 2 * s * s, expl(x) * sinl(y));
}

static number log_of_more(number z)
{
    long double x = creall(z), y = cimagl(z);
    if (z == 0)
        return z;
    if (!(fabsl(x) < 0.25L && fabsl(y) < 0.25L))
        return clogl(of(1 + x, y));
    return of(log1pl(x * (2 + x) + y * y) / 2, atan2l(y, 1 + x));
}

static number scaled(number z, long double factor)
{
    return of(creall(z) * factor, cimagl(z) * factor);
}

static number power(number a, number b)
{
    if (b == 0)
        return of(1, 0);
    if (a == 0)
        return creall(b) > 0 ? of(0, 0) : of((long double)NAN, (long double)NAN);
    return cexpl(b * clogl(a));
}

static int function(uint32_t op, number a, number b, number *y)
{
    switch (op) {
#define CASE(NAME, value)                                                                          \
    case COLLET_OP_##NAME:                                                                         \
        *y = (value);                                                                              \
        return 1;
        CASE(EXP, cexpl(a))
        CASE(EXPM1, less_one(a))
        CASE(LOG, clogl(a))
        CASE(LOG1P, log_of_more(a))
        CASE(LOG2, scaled(clogl(a), 1 / logl(2)))
        CASE(LOG10, scaled(clogl(a), 1 / logl(10)))
        CASE(SQRT, csqrtl(a))
        CASE(SIN, csinl(a))
        CASE(COS, ccosl(a))
        CASE(TAN, ctanl(a))
        CASE(SINH, csinhl(a))
        CASE(COSH, ccoshl(a))
        CASE(TANH, ctanhl(a))
        CASE(ASIN, casinl(a))
        CASE(ACOS, cacosl(a))
        CASE(ATAN, catanl(a))
        CASE(ASINH, casinhl(a))
        CASE(ACOSH, cacoshl(a))
        CASE(ATANH, catanhl(a))
        CASE(POW, power(a, b))
    default:
        return 0;
    }
}

int truth_complex(uint32_t op, const long double x[4], long double y[2])
{
    number found;
    if (!function(op, of(x[0], x[1]), of(x[2], x[3]), &found))
        return 0;
    y[0] = creall(found);
    y[1] = cimagl(found);
    return 1;
}
