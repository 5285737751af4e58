/* SPDX-License-Identifier: Apache-2.0 */
/*
 * factor.h - LU, Cholesky and QR of one dense matrix of doubles, for every backend that works on
 * host memory.
 *
 * Matrices are row-major without gaps. Entries are finite. Nothing is allocated: any thread, no
 * errors. Backward stable: Higham, Accuracy and Stability of Numerical Algorithms, theorems 9.3,
 * 10.3 and 19.4.
 */
#ifndef PLUGINS_SHARED_HOST_LINALG_FACTOR_H
#define PLUGINS_SHARED_HOST_LINALG_FACTOR_H

#include <stdint.h>

/*
 * P A = L U with partial pivoting, in place: the m x n matrix becomes U on and above the diagonal
 * and L, whose diagonal is 1, below. perm[i] is the row of A that is row i of P A; of entries of
 * equal magnitude the first becomes the pivot. A column without a pivot is skipped.
 */
void cpu_lu_factor(double *a, int64_t m, int64_t n, int32_t *perm);

/* X = A^-1 B from cpu_lu_factor of an n x n matrix with no zero on U's diagonal. x and b are
 * n x columns and not the same. */
void cpu_lu_solve(const double *lu, const int32_t *perm, int64_t n, const double *b, double *x,
                  int64_t columns);

/*
 * A = L L^T in place. Reads the lower triangle, which becomes L; the rest becomes 0. Returns 0, or
 * 1 + the index of the first pivot that is not a positive finite number, with `a` undefined.
 * Entries may be infinite or NaN.
 */
int64_t cpu_cholesky_factor(double *a, int64_t n);

/*
 * A = Q R with k = min(m, n): the m x n matrix `a` becomes R in its first k rows (zeros below the
 * diagonal, which is >= 0), q the m x k matrix with orthonormal columns. `scratch` holds m + n
 * + k numbers.
 */
void cpu_qr_factor(double *a, int64_t m, int64_t n, double *q, double *scratch);

#endif
