/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/md/axes.c */
#include "eigen.h"

#include <math.h>

#include "vector3.h"

/* Quadratic convergence takes fewer than ten sweeps; the bound guarantees termination. */
#define MAX_SWEEPS 40

/* An off-diagonal element is negligible below this fraction of its two diagonal elements. */
#define NEGLIGIBLE 0x1p-55

static void rotate(double *x, double *y, double s, double tau)
{
    double a = *x, b = *y;
    *x = a - s * (b + tau * a);
    *y = b + s * (a - tau * b);
}

/* Annihilates element (p, q), p < q, of the n x n matrix a; only the upper triangle is kept. */
static void annihilate(int n, double *a, double *v, int p, int q)
{
    double apq = a[p * n + q];
    double theta = (a[q * n + q] - a[p * n + p]) / (2.0 * apq);
    double t = copysign(1.0, theta) / (fabs(theta) + sqrt(1.0 + theta * theta));
    double c = 1.0 / sqrt(1.0 + t * t);
    double s = t * c, tau = s / (1.0 + c);
    a[p * n + p] -= t * apq;
    a[q * n + q] += t * apq;
    a[p * n + q] = 0.0;
    for (int r = 0; r < n; r++) {
        if (r != p && r != q) {
            rotate(r < p ? &a[r * n + p] : &a[p * n + r], r < q ? &a[r * n + q] : &a[q * n + r], s,
                   tau);
        }
        rotate(&v[r * n + p], &v[r * n + q], s, tau);
    }
}

/* Cyclic Jacobi: leaves the eigenvalues on a's diagonal and the vectors in v's columns. Judging an
 * element against its own diagonal pair, not against the whole matrix, keeps small eigenvalues of a
 * positive matrix accurate to their own last digits. */
static void jacobi(int n, double *a, double *v)
{
    for (int i = 0; i < n * n; i++)
        v[i] = i % (n + 1) == 0;
    int rotated = 1;
    for (int sweep = 0; rotated && sweep < MAX_SWEEPS; sweep++) {
        rotated = 0;
        for (int p = 0; p < n - 1; p++) {
            for (int q = p + 1; q < n; q++) {
                double pair = sqrt(fabs(a[p * n + p])) * sqrt(fabs(a[q * n + q]));
                if (fabs(a[p * n + q]) <= NEGLIGIBLE * pair)
                    continue;
                annihilate(n, a, v, p, q);
                rotated = 1;
            }
        }
    }
}

/* Sets the exponent by which the largest of n numbers is scaled to [0.5, 1). Returns 0 if a number is not finite. */
static int scale_exponent(int n, const double *a, int *exponent)
{
    double largest = 0.0;
    *exponent = 0;
    for (int i = 0; i < n; i++) {
        if (!isfinite(a[i]))
            return 0;
        largest = fmax(largest, fabs(a[i]));
    }
    if (largest > 0.0)
        (void)frexp(largest, exponent);
    return 1;
}

static void swap_columns(double values[3], double v[9], int i, int j)
{
    double value = values[i];
    values[i] = values[j];
    values[j] = value;
    for (int r = 0; r < 9; r += 3) {
        double x = v[r + i];
        v[r + i] = v[r + j];
        v[r + j] = x;
    }
}

static void sort_ascending(double values[3], double v[9])
{
    if (values[1] < values[0])
        swap_columns(values, v, 0, 1);
    if (values[2] < values[1])
        swap_columns(values, v, 1, 2);
    if (values[1] < values[0])
        swap_columns(values, v, 0, 1);
}

/* Scales x to unit length; the sign makes its largest component positive. */
static void make_positive(double x[3])
{
    double largest = x[0];
    for (int i = 1; i < 3; i++) {
        if (fabs(x[i]) > fabs(largest))
            largest = x[i];
    }
    double length = sqrt(cpu_dot3(x, x));
    for (int i = 0; i < 3; i++)
        x[i] /= copysign(length, largest);
}

static void first_frame_signs(const double v[9], double axes[9])
{
    double x[3], y[3], z[3];
    for (int i = 0; i < 3; i++) {
        x[i] = v[3 * i];
        y[i] = v[3 * i + 1];
    }
    make_positive(x);
    double overlap = cpu_dot3(x, y);
    for (int i = 0; i < 3; i++)
        y[i] -= overlap * x[i];
    make_positive(y);
    cpu_cross3(x, y, z);
    for (int i = 0; i < 3; i++) {
        axes[3 * i] = x[i];
        axes[3 * i + 1] = y[i];
        axes[3 * i + 2] = z[i];
    }
}

void cpu_eigen3(const double a[9], double moments[3], double axes[9])
{
    int exponent;
    if (!scale_exponent(9, a, &exponent)) {
        for (int i = 0; i < 3; i++)
            moments[i] = NAN;
        for (int i = 0; i < 9; i++)
            axes[i] = NAN;
        return;
    }
    double m[9], v[9];
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++)
            m[3 * i + j] = 0.5 * (ldexp(a[3 * i + j], -exponent) + ldexp(a[3 * j + i], -exponent));
    }
    jacobi(3, m, v);
    for (int i = 0; i < 3; i++)
        moments[i] = ldexp(m[4 * i], exponent);
    sort_ascending(moments, v);
    first_frame_signs(v, axes);
}

void cpu_align_axes(double axes[9], const double previous[9])
{
    static const double choices[4][3] = {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};
    double dots[3] = {0.0, 0.0, 0.0};
    for (int i = 0; i < 9; i++)
        dots[i % 3] += axes[i] * previous[i];
    int best = 0;
    double best_sum = dots[0] + dots[1] + dots[2];
    for (int k = 1; k < 4; k++) {
        double sum = cpu_dot3(choices[k], dots);
        if (sum > best_sum) {
            best = k;
            best_sum = sum;
        }
    }
    for (int i = 0; i < 9; i++)
        axes[i] *= choices[best][i % 3];
}

void cpu_largest_eigenvector4(const double a[16], double vector[4])
{
    int exponent;
    double m[16], v[16];
    if (!scale_exponent(16, a, &exponent)) {
        for (int i = 0; i < 4; i++)
            vector[i] = NAN;
        return;
    }
    for (int i = 0; i < 16; i++)
        m[i] = ldexp(a[i], -exponent);
    jacobi(4, m, v);
    int best = 0;
    for (int k = 1; k < 4; k++) {
        if (m[5 * k] > m[5 * best])
            best = k;
    }
    double length = 0.0;
    for (int i = 0; i < 4; i++) {
        vector[i] = v[4 * i + best];
        length += vector[i] * vector[i];
    }
    for (int i = 0; i < 4; i++)
        vector[i] /= sqrt(length);
}
