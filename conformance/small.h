/* SPDX-License-Identifier: Apache-2.0 */
/* small.h - vectors and small matrices of the oracle, in long double. Row-major; pure functions. */
#pragma once

typedef long double real;

real kit_dot(const real a[3], const real b[3]);
real kit_norm(const real a[3]);
void kit_cross(const real a[3], const real b[3], real out[3]);
/* out = m v, 3 x 3. */
void kit_apply(const real m[9], const real v[3], real out[3]);
real kit_determinant(const real m[9]);
/* The largest |entry| of m^T m - 1, the departure from orthogonality. */
real kit_unorthogonal(const real m[9]);

/* Eigenvalues (ascending) and unit eigenvectors (columns, n x n) of a symmetric n x n matrix, n <=
 * 4, by Jacobi's rotations. Entries must be finite. */
void kit_eigen(int n, const real *matrix, real *values, real *vectors);

/* The minimum-norm least-squares solution x of the symmetric m x = b; eigenvalues of at most 1e-12
 * of the largest are taken as zero. Returns the number of zeros; *smallest is the smallest nonzero eigenvalue. */
int kit_solve(const real m[9], const real b[3], real x[3], real *smallest);
