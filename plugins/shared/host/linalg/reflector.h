/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reflector.h - Householder reflectors and plane rotations on dense rows of doubles, for the
 * decompositions of every backend that works on host memory. Pure functions: any thread, no errors.
 *
 * A reflector is H = 1 - tau v v^T with v[0] = 1; it is symmetric and orthogonal, tau = 0 is the
 * identity. (Golub and Van Loan, Matrix Computations, 5.1.)
 */
#ifndef PLUGINS_SHARED_HOST_LINALG_REFLECTOR_H
#define PLUGINS_SHARED_HOST_LINALG_REFLECTOR_H

#include <stdint.h>

/* Sum of x[i] y[i], n terms, in four interleaved partial sums. */
double cpu_rows_dot(const double *x, const double *y, int64_t n);

/* y += factor x, n numbers. */
void cpu_rows_axpy(double *y, double factor, const double *x, int64_t n);

/* Exchanges x and y, n numbers. */
void cpu_rows_swap(double *x, double *y, int64_t n);

/* sqrt(sum x^2) without intermediate overflow or underflow; finite x. */
double cpu_rows_norm(const double *x, int64_t n);

/*
 * The reflector that maps x (n >= 1 finite numbers) to (beta, 0, ..., 0): x becomes v, tau is
 * returned and *beta set. Where x[1..n-1] are zeros H is the identity and beta = x[0]; otherwise
 * |beta| = |x|, with the sign opposite to x[0]'s.
 */
double cpu_reflector(double *x, int64_t n, double *beta);

/*
 * H times the rows x columns matrix a, rows `stride` apart: v has one entry per row. `w` is scratch
 * of `columns` numbers.
 */
void cpu_reflect_rows(double *a, int64_t stride, int64_t rows, int64_t columns, const double *v,
                      double tau, double *w);

/* The rows x columns matrix a times H: v has one entry per column. */
void cpu_reflect_columns(double *a, int64_t stride, int64_t rows, int64_t columns, const double *v,
                         double tau);

/* (x, y) becomes (c x + s y, c y - s x), n numbers each. */
void cpu_rotate(double *x, double *y, int64_t n, double c, double s);

/* c and s with c x + s y = r >= 0, c y - s x = 0; returns r. Both zero: c = 1, s = 0. */
double cpu_rotation(double x, double y, double *c, double *s);

#endif
