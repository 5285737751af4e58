/* SPDX-License-Identifier: Apache-2.0 */
/* truth.h - the exact results of elementwise functions. This code shares no formula with plugins/ and calls no
 * real function of the C library that a backend calls: conformance/README.md has the rule. tests/conformance/test_truth.c
 * compares the results with conformance/vectors, which mpmath and Python's integers made. */
#pragma once

#include <collet/collet.h>

/* Computes one element of an exact function (exact_truth.c): at[0] is the output, at[1..3] the inputs; `dtype` is
 * the dtype of the last input. */
void truth_exact(uint32_t op, collet_dtype dtype, char *const at[4]);

/* Computes sqrt, or a function of real numbers that has an error limit. The relative error of the result is 2^-59
 * (near_truth.c). */
long double truth_near(uint32_t op, const long double x[3]);

/* A complex function, computed by the C library in long double; no backend uses these functions. x[0], x[1] are
 * the real and the imaginary part of the first argument. x[2] and x[3] are the parts of pow's exponent.
 * Returns 0 if the function has no limit of error. */
int truth_complex(uint32_t op, const long double x[4], long double y[2]);
