/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elementwise.h - one row of an elementwise kernel.
 *
 * at[0] is the output, at[1] and at[2] the inputs; step[] are bytes from one element to the next,
 * of either sign, 0 for an input that is repeated. The output may be exactly an input. add, sub,
 * mul, div and sqrt round as IEEE 754 says, exp and log are within 1 ulp, subnormals included. The
 * index of a table is [f32, f64].
 */
#ifndef COLLET_OPENMP_KERNELS_ELEMENTWISE_H
#define COLLET_OPENMP_KERNELS_ELEMENTWISE_H

#include <stdint.h>

typedef void (*row_kernel)(char *const *at, const int64_t *step, int64_t n);

typedef struct elementwise_kernels {
    row_kernel add[2], sub[2], mul[2], div[2];
    row_kernel exp[2], log[2], sqrt[2];
} elementwise_kernels;

#endif
