/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/linalg/spectra.c, tests/host/test_decompositions.c */
#include <float.h>
#include <math.h>

#include "reflector.h"
#include "spectral.h"

/* Limit of the average number of steps per eigenvalue; two or three are usual. */
#define STEPS 40

/* p = tau S v for the symmetric n x n matrix S whose lower triangle is in a. */
static void multiply(const double *a, int64_t stride, int64_t n, const double *v, double tau,
                     double *p)
{
    for (int64_t i = 0; i < n; i++) {
        const double *row = a + i * stride;
        p[i] = cpu_rows_dot(row, v, i + 1);
        cpu_rows_axpy(p, v[i], row, i);
    }
    for (int64_t i = 0; i < n; i++)
        p[i] *= tau;
}

/* Reduces a to tridiagonal form (d, e); reflector k is left in row k, right of the diagonal, its
 * tau in tau[k]. */
static void tridiagonalise(double *a, int64_t n, double *d, double *e, double *tau, double *p)
{
    for (int64_t k = 0; k < n; k++) {
        double *v = a + k * n + k + 1, *below = v + n;
        int64_t rest = n - k - 1;
        d[k] = a[k * n + k];
        e[k] = 0.0;
        if (rest == 0)
            break;
        for (int64_t i = 0; i < rest; i++)
            v[i] = a[(k + 1 + i) * n + k];
        tau[k] = cpu_reflector(v, rest, &e[k]);
        if (tau[k] == 0.0)
            continue;
        multiply(below, n, rest, v, tau[k], p);
        cpu_rows_axpy(p, -0.5 * tau[k] * cpu_rows_dot(p, v, rest), v, rest);
        for (int64_t i = 0; i < rest; i++) {
            cpu_rows_axpy(below + i * n, -v[i], p, i + 1);
            cpu_rows_axpy(below + i * n, -p[i], v, i + 1);
        }
    }
}

/* Row i of `vectors` becomes column i of the product of the reflectors. */
static void accumulate(const double *a, int64_t n, const double *tau, double *vectors)
{
    for (int64_t i = 0; i < n * n; i++)
        vectors[i] = i / n == i % n ? 1.0 : 0.0;
    for (int64_t k = n - 2; k >= 0; k--) {
        int64_t first = (k + 1) * n + k + 1, rest = n - k - 1;
        cpu_reflect_columns(vectors + first, n, rest, rest, a + k * n + k + 1, tau[k]);
    }
}

/* One implicit QL step on the unreduced block first..last, with Wilkinson's shift. */
static void step(int64_t first, int64_t last, double *d, double *e, double *vectors, int64_t n)
{
    double half = (d[first + 1] - d[first]) / (2.0 * e[first]);
    double shift = d[first] - e[first] / (half + copysign(hypot(half, 1.0), half));
    double g = d[last] - shift, c = 1.0, s = 1.0, moved = 0.0;
    for (int64_t i = last - 1; i >= first; i--) {
        double f = s * e[i], b = c * e[i];
        double r = cpu_rotation(g, f, &c, &s);
        e[i + 1] = r;
        if (r == 0.0) {
            /* The block splits here. */
            d[i + 1] -= moved;
            e[last] = 0.0;
            return;
        }
        g = d[i + 1] - moved;
        r = (d[i] - g) * s + 2.0 * c * b;
        moved = s * r;
        d[i + 1] = g + moved;
        g = c * r - b;
        cpu_rotate(vectors + (i + 1) * n, vectors + i * n, n, c, s);
    }
    d[first] -= moved;
    e[first] = g;
    e[last] = 0.0;
}

static int diagonalise(double *d, double *e, double *vectors, int64_t n)
{
    int64_t left = STEPS * n;
    for (int64_t first = 0; first < n; first++) {
        for (;;) {
            int64_t last = first;
            while (last + 1 < n &&
                   fabs(e[last]) > DBL_EPSILON / 2.0 * (fabs(d[last]) + fabs(d[last + 1])))
                last++;
            if (last == first)
                break;
            if (left-- == 0)
                return 1;
            step(first, last, d, e, vectors, n);
        }
    }
    return 0;
}

int cpu_symmetric_eigen(double *a, int64_t n, double *values, double *vectors, double *scratch)
{
    double *e = scratch, *tau = e + n, *p = tau + n;
    tridiagonalise(a, n, values, e, tau, p);
    accumulate(a, n, tau, vectors);
    if (diagonalise(values, e, vectors, n))
        return 1;
    for (int64_t i = 0; i + 1 < n; i++) {
        int64_t lowest = i;
        for (int64_t k = i + 1; k < n; k++)
            if (values[k] < values[lowest])
                lowest = k;
        if (lowest == i)
            continue;
        cpu_rows_swap(values + i, values + lowest, 1);
        cpu_rows_swap(vectors + i * n, vectors + lowest * n, n);
    }
    return 0;
}
