/* SPDX-License-Identifier: Apache-2.0 */
/*
 * truth.h - reference values of functions of one argument: fast values with a few more digits than a result, and slow
 * values of high precision. The reference values and the backends share no code except libm.
 */
#ifndef TESTS_ACCURACY_TRUTH_H
#define TESTS_ACCURACY_TRUTH_H

#include <collet/types.h>

/* "MPFR, 200 bits" or "long double". */
const char *truth_source(void);

/* Fast reference in double, which has 29 bits more than f32. */
double truth_double(uint32_t op, double x);

/* |got - op(x)| in ulp of `dtype` at op(x), to the precision of truth_source(). x and op(x) must be
 * finite. `got` is finite or rounded to infinity, which counts as the number after the largest. */
double truth_error(uint32_t op, collet_dtype dtype, double x, double got);

/* op(x) rounded to f32. */
float truth_f32(uint32_t op, double x);

#endif
