/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/conformance/test_kit.c */
#include "small.h"

#include <math.h>
#include <string.h>

#define SINGULAR 1e-12L

real kit_dot(const real a[3], const real b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

real kit_norm(const real a[3])
{
    real largest = fmaxl(fabsl(a[0]), fmaxl(fabsl(a[1]), fabsl(a[2])));
    if (largest == 0 || !isfinite(largest))
        return largest;
    real b[3] = {a[0] / largest, a[1] / largest, a[2] / largest};
    return largest * sqrtl(kit_dot(b, b));
}

void kit_cross(const real a[3], const real b[3], real out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

void kit_apply(const real m[9], const real v[3], real out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = kit_dot(&m[3 * i], v);
}

real kit_determinant(const real m[9])
{
    real c[3];
    kit_cross(&m[3], &m[6], c);
    return kit_dot(m, c);
}

real kit_unorthogonal(const real m[9])
{
    real worst = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            real entry = m[i] * m[j] + m[3 + i] * m[3 + j] + m[6 + i] * m[6 + j] - (i == j);
            if (!(fabsl(entry) <= worst))
                worst = isnan(entry) ? (real)INFINITY : fabsl(entry);
        }
    return worst;
}

/* Jacobi rotation in the plane (p, q) that zeroes a[p][q]. */
static void rotate(int n, real *a, real *v, int p, int q)
{
    real apq = a[p * n + q];
    if (apq == 0)
        return;
    real theta = (a[q * n + q] - a[p * n + p]) / (2 * apq);
    real t = (theta < 0 ? -1 : 1) / (fabsl(theta) + hypotl(theta, 1));
    real c = 1 / hypotl(t, 1), s = t * c;
    for (int k = 0; k < n; k++) {
        real x = a[k * n + p], y = a[k * n + q];
        a[k * n + p] = c * x - s * y;
        a[k * n + q] = s * x + c * y;
    }
    for (int k = 0; k < n; k++) {
        real x = a[p * n + k], y = a[q * n + k];
        a[p * n + k] = c * x - s * y;
        a[q * n + k] = s * x + c * y;
    }
    for (int k = 0; k < n; k++) {
        real x = v[k * n + p], y = v[k * n + q];
        v[k * n + p] = c * x - s * y;
        v[k * n + q] = s * x + c * y;
    }
    a[p * n + q] = a[q * n + p] = 0;
}

void kit_eigen(int n, const real *matrix, real *values, real *vectors)
{
    real a[16], v[16] = {0};
    int order[4];
    memcpy(a, matrix, (size_t)(n * n) * sizeof *a);
    for (int i = 0; i < n; i++)
        v[i * n + i] = 1;
    for (int sweep = 0; sweep < 60; sweep++)
        for (int p = 0; p < n; p++)
            for (int q = p + 1; q < n; q++)
                rotate(n, a, v, p, q);
    for (int i = 0; i < n; i++) {
        int at = i;
        for (; at > 0 && a[order[at - 1] * n + order[at - 1]] > a[i * n + i]; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    for (int i = 0; i < n; i++) {
        values[i] = a[order[i] * n + order[i]];
        for (int k = 0; k < n; k++)
            vectors[k * n + i] = v[k * n + order[i]];
    }
}

int kit_solve(const real m[9], const real b[3], real x[3], real *smallest)
{
    real values[3], vectors[9];
    int zeros = 0;
    kit_eigen(3, m, values, vectors);
    real cutoff = SINGULAR * fmaxl(fabsl(values[0]), fabsl(values[2]));
    x[0] = x[1] = x[2] = *smallest = 0;
    for (int k = 0; k < 3; k++) {
        real along = 0;
        if (fabsl(values[k]) <= cutoff) {
            zeros++;
            continue;
        }
        if (*smallest == 0 || fabsl(values[k]) < *smallest)
            *smallest = fabsl(values[k]);
        for (int i = 0; i < 3; i++)
            along += vectors[3 * i + k] * b[i];
        for (int i = 0; i < 3; i++)
            x[i] += vectors[3 * i + k] * along / values[k];
    }
    return zeros;
}
