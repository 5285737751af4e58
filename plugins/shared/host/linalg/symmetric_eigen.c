/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/linalg/spectra.c, tests/host/test_decompositions.c */
#include <float.h>
#include <math.h>

#include "rotation.h"
#include "spectral.h"

/* Limit of the average number of steps per eigenvalue; two or three are usual. */
#define STEPS 40

/* One implicit QL step on the unreduced block first..last, with Wilkinson's shift. */
static void step(int64_t first, int64_t last, double *d, double *e, double *vectors, int64_t length)
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
        cpu_rotate(vectors + (i + 1) * length, vectors + i * length, length, c, s);
    }
    d[first] -= moved;
    e[first] = g;
    e[last] = 0.0;
}

static int diagonalise(double *d, double *e, int64_t n, double *vectors, int64_t length)
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
            step(first, last, d, e, vectors, length);
        }
    }
    return 0;
}

int cpu_tridiagonal_eigen(double *d, double *e, int64_t n, double *vectors, int64_t length)
{
    if (diagonalise(d, e, n, vectors, length))
        return 1;
    for (int64_t i = 0; i + 1 < n; i++) {
        int64_t lowest = i;
        for (int64_t k = i + 1; k < n; k++)
            if (d[k] < d[lowest])
                lowest = k;
        if (lowest == i)
            continue;
        cpu_rows_swap(d + i, d + lowest, 1);
        cpu_rows_swap(vectors + i * length, vectors + lowest * length, length);
    }
    return 0;
}
