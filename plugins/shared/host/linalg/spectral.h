/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spectral.h - eigenvalues and singular values of real tridiagonal and bidiagonal matrices, for
 * every backend that works on host memory.
 *
 * Matrices are finite; their largest magnitude lies between 2^-400 and 2^400, or is 0. Rows of
 * vectors are rows of doubles without gaps; a complex number is two doubles. The functions allocate
 * nothing and run on any thread. Both return 0, or 1 if the iteration did not converge: the results
 * are then undefined.
 */
#pragma once

#include <stdint.h>

/* Computes the eigenvalues of the symmetric n x n matrix with the diagonal d and the subdiagonal e[0..n-2],
 * ascending, in d; destroys e. Multiplies the n rows of `vectors`, `length` doubles each, from the left by the
 * matrix whose rows are the eigenvectors; so if `vectors` is the identity, row i becomes the eigenvector of d[i].
 * Uses implicitly shifted QL steps (Golub and Van Loan, 8.3). */
int cpu_tridiagonal_eigen(double *d, double *e, int64_t n, double *vectors, int64_t length);

/* An upper bidiagonal matrix (diagonal d, superdiagonal e) and the rows of `left` and `right`, n
 * each, to which its rotations are applied. */
typedef struct bidiagonal {
    int64_t n;
    double *d, *e;
    double *left, *right;
    int64_t left_length, right_length; /* doubles of a row */
} bidiagonal;

/* d becomes the singular values, >= 0 and descending. Uses implicitly shifted QR steps (Golub and Van
 * Loan, 8.6). */
int cpu_bidiagonal_svd(const bidiagonal *b);
