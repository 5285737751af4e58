/* SPDX-License-Identifier: Apache-2.0 */
/* vector3.h - three-vectors of doubles. The functions are pure. Outputs must not be inputs. */
#pragma once

#include <math.h>

static inline double cpu_dot3(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline void cpu_cross3(const double a[3], const double b[3], double out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

/* u = a / |a|, without overflow or underflow. Returns 0, and u = 0, when a is zero. If a is not
 * finite, u is NaN and 1 is returned. */
static inline int cpu_unit3(const double a[3], double u[3])
{
    double largest = fmax(fabs(a[0]), fmax(fabs(a[1]), fabs(a[2])));
    int finite = isfinite(a[0]) && isfinite(a[1]) && isfinite(a[2]);
    int exponent = 0;
    u[0] = u[1] = u[2] = finite ? 0.0 : (double)NAN;
    if (!finite || largest == 0.0)
        return !finite;
    (void)frexp(largest, &exponent);
    for (int i = 0; i < 3; i++)
        u[i] = ldexp(a[i], -exponent);
    double length = sqrt(cpu_dot3(u, u));
    for (int i = 0; i < 3; i++)
        u[i] /= length;
    return 1;
}
