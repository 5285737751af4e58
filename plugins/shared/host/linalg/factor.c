/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/linalg/factors.c, tests/host/test_decompositions.c */
#include "factor.h"

#include <math.h>

#include "reflector.h"

/* ---- LU -------------------------------------------------------------------------------------- */

static int64_t pivot_of(const double *a, int64_t m, int64_t n, int64_t k)
{
    int64_t pivot = k;
    for (int64_t i = k + 1; i < m; i++)
        if (fabs(a[i * n + k]) > fabs(a[pivot * n + k]))
            pivot = i;
    return pivot;
}

void cpu_lu_factor(double *a, int64_t m, int64_t n, int32_t *perm)
{
    for (int64_t i = 0; i < m; i++)
        perm[i] = (int32_t)i;
    for (int64_t k = 0; k < m && k < n; k++) {
        int64_t pivot = pivot_of(a, m, n, k);
        if (pivot != k) {
            int32_t row = perm[k];
            perm[k] = perm[pivot];
            perm[pivot] = row;
            cpu_rows_swap(a + k * n, a + pivot * n, n);
        }
        const double *top = a + k * n;
        for (int64_t i = k + 1; top[k] != 0.0 && i < m; i++) {
            double *row = a + i * n;
            row[k] /= top[k];
            if (row[k] != 0.0)
                cpu_rows_axpy(row + k + 1, -row[k], top + k + 1, n - k - 1);
        }
    }
}

void cpu_lu_solve(const double *lu, const int32_t *perm, int64_t n, const double *b, double *x,
                  int64_t columns)
{
    for (int64_t i = 0; i < n; i++) {
        double *row = x + i * columns;
        for (int64_t j = 0; j < columns; j++)
            row[j] = b[perm[i] * columns + j];
        for (int64_t k = 0; k < i; k++)
            cpu_rows_axpy(row, -lu[i * n + k], x + k * columns, columns);
    }
    for (int64_t i = n - 1; i >= 0; i--) {
        double *row = x + i * columns;
        for (int64_t k = i + 1; k < n; k++)
            cpu_rows_axpy(row, -lu[i * n + k], x + k * columns, columns);
        for (int64_t j = 0; j < columns; j++)
            row[j] /= lu[i * n + i];
    }
}

/* ---- Cholesky -------------------------------------------------------------------------------- */

int64_t cpu_cholesky_factor(double *a, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        double *row = a + i * n;
        for (int64_t j = 0; j < i; j++)
            row[j] = (row[j] - cpu_rows_dot(row, a + j * n, j)) / a[j * n + j];
        double pivot = row[i] - cpu_rows_dot(row, row, i);
        if (!(pivot > 0.0) || isinf(pivot))
            return i + 1;
        row[i] = sqrt(pivot);
        for (int64_t j = i + 1; j < n; j++)
            row[j] = 0.0;
    }
    return 0;
}

/* ---- QR -------------------------------------------------------------------------------------- */

/* Copies column k of the rows from k on, between the matrix and a vector. */
static void take_column(const double *a, int64_t m, int64_t n, int64_t k, double *v)
{
    for (int64_t i = k; i < m; i++)
        v[i - k] = a[i * n + k];
}

/* Reflectors in the columns of a, below the diagonal; R above, its diagonal of either sign. */
static void reduce(double *a, int64_t m, int64_t n, int64_t shorter, double *v, double *w,
                   double *tau)
{
    for (int64_t k = 0; k < shorter; k++) {
        double *corner = a + k * n + k, beta;
        take_column(a, m, n, k, v);
        tau[k] = cpu_reflector(v, m - k, &beta);
        cpu_reflect_rows(corner + 1, n, m - k, n - k - 1, v, tau[k], w);
        *corner = beta;
        for (int64_t i = k + 1; i < m; i++)
            a[i * n + k] = v[i - k];
    }
}

void cpu_qr_factor(double *a, int64_t m, int64_t n, double *q, double *scratch)
{
    int64_t shorter = m < n ? m : n;
    double *v = scratch, *w = v + m, *tau = w + n;
    reduce(a, m, n, shorter, v, w, tau);
    for (int64_t i = 0; i < m * shorter; i++)
        q[i] = i / shorter == i % shorter ? 1.0 : 0.0;
    for (int64_t k = shorter - 1; k >= 0; k--) {
        take_column(a, m, n, k, v);
        v[0] = 1.0;
        cpu_reflect_rows(q + k * shorter + k, shorter, m - k, shorter - k, v, tau[k], w);
    }
    for (int64_t k = 0; k < shorter; k++) {
        double *row = a + k * n;
        for (int64_t j = 0; j < k; j++)
            row[j] = 0.0;
        if (!signbit(row[k]))
            continue;
        for (int64_t j = k; j < n; j++)
            row[j] = -row[j];
        for (int64_t i = 0; i < m; i++)
            q[i * shorter + k] = -q[i * shorter + k];
    }
}
