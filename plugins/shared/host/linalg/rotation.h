/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rotation.h - norms and plane rotations of dense rows of doubles, for the decompositions of every
 * backend that works on host memory. A row of n complex numbers is a row of 2 n doubles. The functions are
 * pure: any thread may call them, and there are no errors.
 */
#pragma once

#include <stdint.h>

/* Exchanges x and y, n numbers. */
void cpu_rows_swap(double *x, double *y, int64_t n);

/* sqrt(sum x^2) without intermediate overflow or underflow, for finite x. */
double cpu_rows_norm(const double *x, int64_t n);

/* (x, y) becomes (c x + s y, c y - s x), n numbers each. */
void cpu_rotate(double *x, double *y, int64_t n, double c, double s);

/* c and s with c x + s y = r >= 0, c y - s x = 0; returns r. If both are zero, c = 1 and s = 0. */
double cpu_rotation(double x, double y, double *c, double *s);
