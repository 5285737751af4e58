/* SPDX-License-Identifier: Apache-2.0 */
/* points.h - the arguments at which a function is measured. */
#ifndef ACCURACY_POINTS_H
#define ACCURACY_POINTS_H

#include <collet/types.h>

/* Numbers of all bit patterns there are: 2^16 or 2^32; 0 for f64. */
uint64_t points_all(collet_dtype dtype);

/* Patterns first .. first + count - 1 of f16, bf16 or f32. */
void points_every(void *x, collet_dtype dtype, uint64_t first, int64_t count);

/*
 * `count` pseudorandom ones, the same for the same `block`: half of them any bit pattern, half from
 * where the function is hard: sin and cos near multiples of pi/2 and within some turns, log near 1,
 * exp where it overflows and underflows, tanh where it bends and where it comes to 1.
 */
void points_hard(void *x, collet_dtype dtype, uint32_t op, uint64_t block, int64_t count);

/* Argument i as a double. */
double points_value(const void *x, collet_dtype dtype, int64_t i);

#endif
