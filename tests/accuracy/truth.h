/* SPDX-License-Identifier: Apache-2.0 */
/*
 * truth.h - the elementary functions, right: quickly to some digits more than a result has, and
 * slowly to as many as are wanted. They share no code with any backend but the C library's.
 */
#ifndef ACCURACY_TRUTH_H
#define ACCURACY_TRUTH_H

#include <collet/types.h>

/* "MPFR, 200 bits" or "long double". */
const char *truth_source(void);

/* In double, which has 29 bits more than f32. */
double truth_double(uint32_t op, double x);

/* |got - op(x)| in units of the last place of `dtype` at op(x), as well as truth_source tells it.
 * Both are finite, and so is the result or it rounds to infinity, which is the number after the
 * largest. */
double truth_error(uint32_t op, collet_dtype dtype, double x, double got);

/* op(x) rounded to f32. */
float truth_f32(uint32_t op, double x);

#endif
