/* SPDX-License-Identifier: Apache-2.0 */
/* elementwise_truth.h - what elementwise functions must give. */
#ifndef CONFORMANCE_ARRAY_ELEMENTWISE_TRUTH_H
#define CONFORMANCE_ARRAY_ELEMENTWISE_TRUTH_H

#include <collet/collet.h>

/* Computes one element by the formula in its own dtype, with IEEE arithmetic: at[0] is the output,
 * at[1..3] the inputs; the last input has the dtype. */
void truth_in_dtype(uint32_t op, collet_dtype dtype, char *const at[4]);

/* The formula in long double: of functions with a limit in ulp. */
long double truth_in_long_double(uint32_t op, const long double x[3]);

/* A function of complex numbers in long double; x[0], x[1] are the parts of the first argument, x[2],
 * x[3] of the second one of pow. 0: not a function with a limit. */
int truth_complex(uint32_t op, const long double x[4], long double y[2]);

#endif
