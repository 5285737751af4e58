/* SPDX-License-Identifier: Apache-2.0 */
/*
 * complex.h - special cases of complex division, a zero divisor or parts that are not finite, as in
 * C11 annex G.5.1. The backends' formulas handle the others. Pure functions.
 */
#ifndef PLUGINS_SHARED_HOST_ARRAY_COMPLEX_H
#define PLUGINS_SHARED_HOST_ARRAY_COMPLEX_H

#include <math.h>
#include <collet/types.h>

static inline double cpu_unit_if_infinite(double x)
{
    return copysign(isinf(x) ? 1.0 : 0.0, x);
}

/*
 * a / b where b is 0 or a part of a or b is not finite. A divisor of 0 gives infinities with the
 * sign of its real part; infinite over finite is infinite, finite over infinite 0, whatever the
 * other part; all else is NaN.
 */
static inline collet_c128 cpu_special_quotient(collet_c128 a, collet_c128 b)
{
    int a_finite = isfinite(a.re) && isfinite(a.im), b_finite = isfinite(b.re) && isfinite(b.im);
    if (b.re == 0.0 && b.im == 0.0) {
        double infinity = copysign((double)INFINITY, b.re);
        return (collet_c128){infinity * a.re, infinity * a.im};
    }
    if ((isinf(a.re) || isinf(a.im)) && b_finite) {
        double re = cpu_unit_if_infinite(a.re), im = cpu_unit_if_infinite(a.im);
        return (collet_c128){(double)INFINITY * (re * b.re + im * b.im),
                             (double)INFINITY * (im * b.re - re * b.im)};
    }
    if ((isinf(b.re) || isinf(b.im)) && a_finite) {
        double c = cpu_unit_if_infinite(b.re), d = cpu_unit_if_infinite(b.im);
        /* Halves, so that their sum cannot overflow. */
        double re = 0.5 * a.re, im = 0.5 * a.im;
        return (collet_c128){0.0 * (re * c + im * d), 0.0 * (im * c - re * d)};
    }
    return (collet_c128){(double)NAN, (double)NAN};
}

#endif
