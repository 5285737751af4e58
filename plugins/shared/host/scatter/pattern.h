/* SPDX-License-Identifier: Apache-2.0 */
/* pattern.h - the parts that the kernels of patterns share. */
#pragma once

#include "numbers.h"

/* A spectrum of Z x Y x X elements. If `half`, it is the spectrum of one layer of a real array, and only the first
 * X / 2 + 1 elements along x exist. */
typedef struct scatter_spectrum {
    const char *at;
    int64_t extent[3], step[3]; /* z, y, x */
    int half, wide;
} scatter_spectrum;

complex_number scatter_element(const scatter_spectrum *s, int64_t z, int64_t y, int64_t x);

/* Number i of a vector. */
static inline double scatter_number(const collet_operand *o, int64_t i)
{
    return real_at(cpu_at(o) + i * cpu_step(o, 0), is_wide(o));
}

static inline double scatter_dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* |k^2 p - s (s p)|^2 */
double scatter_intensity(const complex_number p[3], const double s[3], double k_square);

/* p = the polarisation for an electric field at an angle; p is then rotated back about k by this angle. */
void scatter_at_angle(const complex_number amplitude[6], const double k[3], double angle,
                      complex_number p[3]);

/* The intensity as a function of the angle: its mean over all angles, and the amplitudes of the cosine and the sine of
 * twice the angle. */
void scatter_three_parts(const complex_number amplitude[6], const double s[3], double k_square,
                         double part[3]);
