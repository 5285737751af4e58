/* SPDX-License-Identifier: Apache-2.0 */
/* The formulas compiled for the kit, with the C library's elementary functions in long double.
 * Tests: tests/conformance/test_kit.c, python/tests/op/test_elementwise.py */
#include "elementwise_truth.h"

#include "shared/formula/host.h"

typedef long double ld;

/* ---- Elementary functions -------------------------------------------------------------------- */

#define ONE(name)                                                                                  \
    INLINE ld name##_ld(ld a)                                                                      \
    {                                                                                              \
        return name##l(a);                                                                         \
    }                                                                                              \
    INLINE f64 name##_f64(f64 a)                                                                   \
    {                                                                                              \
        return (f64)name##_ld((ld)a);                                                              \
    }                                                                                              \
    INLINE f32 name##_f32(f32 a)                                                                   \
    {                                                                                              \
        return (f32)name##_ld((ld)a);                                                              \
    }
#define TWO(name)                                                                                  \
    INLINE ld name##_ld(ld a, ld b)                                                                \
    {                                                                                              \
        return name##l(a, b);                                                                      \
    }                                                                                              \
    INLINE f64 name##_f64(f64 a, f64 b)                                                            \
    {                                                                                              \
        return (f64)name##_ld((ld)a, (ld)b);                                                       \
    }                                                                                              \
    INLINE f32 name##_f32(f32 a, f32 b)                                                            \
    {                                                                                              \
        return (f32)name##_ld((ld)a, (ld)b);                                                       \
    }

/* These two are correctly rounded: sqrt is not computed in long double first. */
#define sqrt_f32(x) root_f32(x)
#define sqrt_f64(x) root_f64(x)
#define sqrt_ld(x) sqrtl(x)

INLINE ld lgammal_alone(ld a)
{
    int sign;
    return lgammal_r(a, &sign);
}

/* Where e^a overflows the result is 1. */
INLINE ld expitl(ld a)
{
    return a < 0 ? expl(a) / (1 + expl(a)) : 1 / (1 + expl(-a));
}

INLINE ld logaddexpl(ld a, ld b)
{
    ld larger = a > b ? a : b;
    if (isnan(a) || isnan(b))
        return a + b;
    return a == b ? a + logl(2) : larger + log1pl(expl(-fabsl(a - b)));
}

/* glibc's powl is wrong for infinity to the power of -2^63. */
INLINE ld powl_right(ld a, ld b)
{
    return isinf(a) || a == 0 ? (ld)pow((f64)a, (f64)b) : powl(a, b);
}

#define lgammal lgammal_alone
#define powl powl_right
ONE(exp)
ONE(log)
ONE(sin)
ONE(cos) ONE(tanh) ONE(exp2) ONE(expm1) ONE(log1p) ONE(log2) ONE(log10) ONE(tan) ONE(asin) ONE(acos)
    ONE(atan) ONE(sinh) ONE(cosh) ONE(asinh) ONE(acosh) ONE(atanh) ONE(cbrt) ONE(erf) ONE(erfc)
        ONE(lgamma) ONE(expit) TWO(pow) TWO(atan2) TWO(hypot) TWO(logaddexp)

/* ---- In the dtype ---------------------------------------------------------------------------- */

#include "shared/formula/rows.h"

            void truth_in_dtype(uint32_t op, collet_dtype dtype, char *const at[4])
{
    const int64_t step[4] = {0};
    row_find[dtype](op)(at, step, 1);
}

/* ---- In long double -------------------------------------------------------------------------- */

#define divide_ld(a, b) ((a) / (b))
#define magnitude_ld(x) fabsl(x)
#define with_sign_ld(x, sign) copysignl((x), (sign))
#define exact_fma_ld(a, b, c) fmal((a), (b), (c))
#define floor_ld(x) floorl(x)
#define ceil_ld(x) ceill(x)
#define trunc_ld(x) truncl(x)
#define rint_ld(x) rintl(x)
#define fmod_ld(a, b) fmodl((a), (b))
#define T ld
#define F(x) x##_ld
#undef PI
#define PI 3.14159265358979323846264338327950288L
#include "shared/formula/real.dev"
#include "shared/formula/composed.dev"

#define COLLET_ELEMENTWISE(NAME, id, name, inputs, result, kinds, ulp, ...)                        \
    OF_F(kinds, CASE_##inputs##_##result(NAME, name))
#define CASE_1_SAME(NAME, name)                                                                    \
    case COLLET_OP_##NAME:                                                                         \
        return F(name)(x[0]);
#define CASE_1_REAL CASE_1_SAME
#define CASE_2_SAME(NAME, name)                                                                    \
    case COLLET_OP_##NAME:                                                                         \
        return F(name)(x[0], x[1]);
#define CASE_3_SAME(NAME, name)                                                                    \
    case COLLET_OP_##NAME:                                                                         \
        return F(name)(x[0], x[1], x[2]);
/* These are exact: the row in their dtype judges them. */
#define CASE_1_BOOL(NAME, name)
#define CASE_2_BOOL(NAME, name)
#define CASE_2_COMPLEX(NAME, name)
#define CASE_3_SELECT(NAME, name)
#define nextafter_ld(a, b) nextafterl((a), (b))

long double truth_in_long_double(uint32_t op, const long double x[3])
{
    switch (op) {
#include <collet/ops/elementwise.def>
    default:
        return (long double)NAN;
    }
}
