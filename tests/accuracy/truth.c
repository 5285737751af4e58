/* SPDX-License-Identifier: Apache-2.0 */
#include "truth.h"

#include <math.h>

#include "kit.h"

#if HAVE_MPFR
#include <mpfr.h>
#define BITS 200
#endif

/* The functions that have the same name in <math.h> and in MPFR. */
#define EACH_FUNCTION(X)                                                                           \
    X(SQRT, sqrt)                                                                                  \
    X(EXP, exp)                                                                                    \
    X(EXP2, exp2)                                                                                  \
    X(EXPM1, expm1)                                                                                \
    X(LOG, log)                                                                                    \
    X(LOG1P, log1p)                                                                                \
    X(LOG2, log2)                                                                                  \
    X(LOG10, log10)                                                                                \
    X(SIN, sin)                                                                                    \
    X(COS, cos)                                                                                    \
    X(TAN, tan)                                                                                    \
    X(ASIN, asin)                                                                                  \
    X(ACOS, acos)                                                                                  \
    X(ATAN, atan)                                                                                  \
    X(SINH, sinh)                                                                                  \
    X(COSH, cosh)                                                                                  \
    X(TANH, tanh)                                                                                  \
    X(ASINH, asinh)                                                                                \
    X(ACOSH, acosh)                                                                                \
    X(ATANH, atanh)                                                                                \
    X(CBRT, cbrt)                                                                                  \
    X(ERF, erf)                                                                                    \
    X(ERFC, erfc)

double truth_double(uint32_t op, double x)
{
    switch (op) {
#define CASE(NAME, name)                                                                           \
    case COLLET_OP_##NAME:                                                                         \
        return name(x);
        EACH_FUNCTION(CASE)
#undef CASE
    default: /* the kit computes the other functions */
        return (double)kit_function(op, (long double)x);
    }
}

static long double largest_power(collet_dtype dtype)
{
    return ldexpl(1, dtype == COLLET_F64 ? 1024 : dtype == COLLET_F16 ? 16 : 128);
}

/* The ulp at a result; clamps results beyond the largest number to the number after it. */
static long double unit_at(collet_dtype dtype, long double *expected)
{
    long double top = largest_power(dtype);
    if (fabsl(*expected) >= top)
        *expected = copysignl(top, *expected);
    return kit_ulp(dtype, *expected * (1 - 0x1p-60L));
}

static long double finite_of(collet_dtype dtype, double got)
{
    return isinf(got) ? copysignl(largest_power(dtype), (long double)got) : (long double)got;
}

#if HAVE_MPFR
static void compute(uint32_t op, mpfr_t y, double x)
{
    mpfr_set_d(y, x, MPFR_RNDN);
    switch (op) {
#define CASE(NAME, name)                                                                           \
    case COLLET_OP_##NAME:                                                                         \
        mpfr_##name(y, y, MPFR_RNDN);                                                              \
        break;
        EACH_FUNCTION(CASE)
#undef CASE
    default: /* the other functions have only the precision of long double */
        mpfr_set_ld(y, kit_function(op, (long double)x), MPFR_RNDN);
        break;
    }
}

const char *truth_source(void)
{
    return "MPFR, 200 bits";
}

double truth_error(uint32_t op, collet_dtype dtype, double x, double got)
{
    mpfr_t y, other;
    mpfr_inits2(BITS, y, other, (mpfr_ptr)0);
    compute(op, y, x);
    long double exact = mpfr_get_ld(y, MPFR_RNDN), expected = exact,
                unit = unit_at(dtype, &expected);
    if (expected != exact)
        mpfr_set_ld(y, expected, MPFR_RNDN);
    mpfr_set_ld(other, finite_of(dtype, got), MPFR_RNDN);
    mpfr_sub(y, y, other, MPFR_RNDN);
    mpfr_set_ld(other, unit, MPFR_RNDN);
    mpfr_div(y, y, other, MPFR_RNDN);
    double error = fabs(mpfr_get_d(y, MPFR_RNDN));
    mpfr_clears(y, other, (mpfr_ptr)0);
    return error;
}

float truth_f32(uint32_t op, double x)
{
    mpfr_t y;
    mpfr_init2(y, BITS);
    compute(op, y, x);
    float nearest = mpfr_get_flt(y, MPFR_RNDN);
    mpfr_clear(y);
    return nearest;
}
#else
const char *truth_source(void)
{
    return "long double";
}

double truth_error(uint32_t op, collet_dtype dtype, double x, double got)
{
    long double expected = kit_function(op, (long double)x), unit = unit_at(dtype, &expected);
    return (double)(fabsl(finite_of(dtype, got) - expected) / unit);
}

float truth_f32(uint32_t op, double x)
{
    return (float)kit_function(op, (long double)x);
}
#endif
