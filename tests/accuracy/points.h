/* SPDX-License-Identifier: Apache-2.0 */
/* points.h - the arguments at which the functions are measured. */
#ifndef TESTS_ACCURACY_POINTS_H
#define TESTS_ACCURACY_POINTS_H

#include <collet/types.h>

/* The number of bit patterns: 2^16 or 2^32; 0 for f64. */
uint64_t points_all(collet_dtype dtype);

/* The numbers with bit patterns first .. first + count - 1 of f16, bf16 or f32. */
void points_every(void *x, collet_dtype dtype, uint64_t first, int64_t count);

/*
 * `count` pseudorandom numbers, determined by `block`. Half of the numbers have random bit
 * patterns. The other half are hard arguments. For sin and cos these are near multiples of pi/2 and
 * within a few periods; for log, near 1; for exp, near overflow and underflow; for tanh, at its
 * bend and where it rounds to 1. For other functions they are near 0, near 1 and in the range of
 * ordinary arguments that elementwise.def gives.
 */
void points_hard(void *x, collet_dtype dtype, uint32_t op, uint64_t block, int64_t count);

/* Argument i as a double. */
double points_value(const void *x, collet_dtype dtype, int64_t i);

#endif
