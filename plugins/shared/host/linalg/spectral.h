/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spectral.h - eigenvalues and singular values of one dense matrix of doubles, for every backend
 * that works on host memory.
 *
 * Matrices are row-major without gaps and finite; their largest magnitude lies between 2^-400 and
 * 2^400, or is 0. Nothing is allocated: any thread. Both return 0, or 1 when the iteration did not
 * converge, with the results undefined.
 */
#ifndef PLUGINS_SHARED_HOST_LINALG_SPECTRAL_H
#define PLUGINS_SHARED_HOST_LINALG_SPECTRAL_H

#include <stdint.h>

/*
 * The symmetric n x n matrix whose lower triangle is in `a`: its eigenvalues ascending in values,
 * and row i of `vectors` (n x n) the unit eigenvector of values[i]. Householder reduction to a
 * tridiagonal matrix, then implicitly shifted QL steps (Golub and Van Loan, 8.3). `a` is destroyed,
 * `scratch` holds 3 n numbers.
 */
int cpu_symmetric_eigen(double *a, int64_t n, double *values, double *vectors, double *scratch);

/*
 * The m x n matrix a, m >= n: A = U diag(s) V^T, s >= 0 descending, row i of `left` (n x m) column
 * i of U, row i of `right` (n x n) column i of V, both sets orthonormal whatever the rank.
 * Householder reduction to an upper bidiagonal matrix, then implicitly shifted QR steps (Golub and
 * Van Loan, 8.6). `a` is destroyed, `scratch` holds m + 4 n numbers.
 */
int cpu_singular_values(double *a, int64_t m, int64_t n, double *s, double *left, double *right,
                        double *scratch);

#endif
