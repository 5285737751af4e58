/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/linalg/factors.c, conformance/linalg/spectra.c */
#include "rotation.h"

#include <math.h>

void cpu_rows_swap(double *x, double *y, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        double kept = x[i];
        x[i] = y[i];
        y[i] = kept;
    }
}

double cpu_rows_norm(const double *x, int64_t n)
{
    double largest = 0.0, sum = 0.0;
    int exponent, shift = 0;
    for (int64_t i = 0; i < n; i++)
        largest = fmax(largest, fabs(x[i]));
    if (largest == 0.0)
        return 0.0;
    /* Within these limits, sums of squares neither overflow, for any count, nor lose bits by underflow. */
    if (largest <= 0x1p-400 || largest >= 0x1p+400) {
        (void)frexp(largest, &exponent);
        shift = exponent;
    }
    for (int64_t i = 0; i < n; i++) {
        double scaled = shift ? ldexp(x[i], -shift) : x[i];
        sum += scaled * scaled;
    }
    return ldexp(sqrt(sum), shift);
}

void cpu_rotate(double *x, double *y, int64_t n, double c, double s)
{
    for (int64_t i = 0; i < n; i++) {
        double old = x[i];
        x[i] = c * old + s * y[i];
        y[i] = c * y[i] - s * old;
    }
}

double cpu_rotation(double x, double y, double *c, double *s)
{
    double r = hypot(x, y);
    *c = r > 0.0 ? x / r : 1.0;
    *s = r > 0.0 ? y / r : 0.0;
    return r;
}
