/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elementwise.h - one row of an elementwise kernel.
 *
 * at[0] is the output, at[1] and at[2] the inputs; step[] are bytes from one element to the next,
 * of either sign, 0 for an input that is repeated. The output may be exactly an input. Arithmetic,
 * sqrt and axpy, whose alpha is at[3], round as IEEE 754 says; docs/KERNELS.md has the limits of
 * the others.
 */
#ifndef COLLET_OPENMP_KERNELS_ELEMENTWISE_H
#define COLLET_OPENMP_KERNELS_ELEMENTWISE_H

#include <stdint.h>

typedef void (*row_kernel)(char *const *at, const int64_t *step, int64_t n);

/* The index of a table: the type of the inputs. NULL where an op has no such kernel. */
enum { ROW_F32, ROW_F64, ROW_C64, ROW_C128, ROW_TYPES };

typedef struct elementwise_kernels {
    row_kernel add[ROW_TYPES], sub[ROW_TYPES], mul[ROW_TYPES], div[ROW_TYPES];
    row_kernel neg[ROW_TYPES], abs[ROW_TYPES], conj[ROW_TYPES], axpy[ROW_TYPES];
    row_kernel exp[ROW_TYPES], log[ROW_TYPES], sqrt[ROW_TYPES];
    row_kernel sin[ROW_TYPES], cos[ROW_TYPES], tanh[ROW_TYPES];
} elementwise_kernels;

#endif
