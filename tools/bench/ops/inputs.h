/* SPDX-License-Identifier: Apache-2.0 */
/* Makes random, valid inputs for measurements; every run gets the same numbers. */
#pragma once

#include "cases.h"

/*
 * Fills C-contiguous memory at `data` for operand `index` of a call. operand->make:
 *   u  uniform in [-1, 1)            p  uniform in [0.5, 2)
 *   x  positions, uniform in [0, 10) m  masses, uniform in [1, 20)
 *   t  times, 0.002 apart          b  offsets of bodies of three atoms
 *   i  inertia tensors: symmetric 3x3 matrices with positive eigenvalues over the last two axes
 *   s  symmetric positive definite matrices over the last two axes
 *   r  rotations: 3x3 matrices over the last two axes
 */
void bench_input_fill(const bench_operand *operand, uint32_t index, void *data);

/* Elements of an operand. */
int64_t bench_operand_size(const bench_operand *operand);
