/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/linalg/factors.c, conformance/linalg/spectra.c */
#include "reflector.h"

#include <math.h>

double cpu_rows_dot(const double *x, const double *y, int64_t n)
{
    double sum[4] = {0.0};
    int64_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (int k = 0; k < 4; k++)
            sum[k] += x[i + k] * y[i + k];
    for (; i < n; i++)
        sum[0] += x[i] * y[i];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

void cpu_rows_axpy(double *y, double factor, const double *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        y[i] += factor * x[i];
}

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
    int exponent;
    for (int64_t i = 0; i < n; i++)
        largest = fmax(largest, fabs(x[i]));
    if (largest == 0.0)
        return 0.0;
    /* Squares of these neither overflow, for any count, nor lose bits below the smallest double. */
    if (largest > 0x1p-400 && largest < 0x1p+400)
        return sqrt(cpu_rows_dot(x, x, n));
    (void)frexp(largest, &exponent);
    for (int64_t i = 0; i < n; i++) {
        double scaled = ldexp(x[i], -exponent);
        sum += scaled * scaled;
    }
    return ldexp(sqrt(sum), exponent);
}

double cpu_reflector(double *x, int64_t n, double *beta)
{
    double alpha = x[0], rest = cpu_rows_norm(x + 1, n - 1), unscale = 1.0;
    x[0] = 1.0;
    *beta = alpha;
    if (rest == 0.0)
        return 0.0;
    /* Near the denormals beta has too few bits for tau v.v = 2, and H would not be orthogonal. */
    if (hypot(alpha, rest) < 0x1p-900) {
        for (int64_t i = 1; i < n; i++)
            x[i] *= 0x1p+600;
        alpha *= 0x1p+600;
        rest = cpu_rows_norm(x + 1, n - 1);
        unscale = 0x1p-600;
    }
    /* The sign is opposite to alpha's, so that alpha - reached does not cancel. */
    double reached = -copysign(hypot(alpha, rest), alpha), head = alpha - reached;
    for (int64_t i = 1; i < n; i++)
        x[i] /= head;
    *beta = reached * unscale;
    return -head / reached;
}

void cpu_reflect_rows(double *a, int64_t stride, int64_t rows, int64_t columns, const double *v,
                      double tau, double *w)
{
    if (tau == 0.0)
        return;
    for (int64_t j = 0; j < columns; j++)
        w[j] = 0.0;
    for (int64_t i = 0; i < rows; i++)
        cpu_rows_axpy(w, v[i], a + i * stride, columns);
    for (int64_t i = 0; i < rows; i++)
        cpu_rows_axpy(a + i * stride, -tau * v[i], w, columns);
}

void cpu_reflect_columns(double *a, int64_t stride, int64_t rows, int64_t columns, const double *v,
                         double tau)
{
    if (tau == 0.0)
        return;
    for (int64_t i = 0; i < rows; i++) {
        double *row = a + i * stride;
        cpu_rows_axpy(row, -tau * cpu_rows_dot(row, v, columns), v, columns);
    }
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
