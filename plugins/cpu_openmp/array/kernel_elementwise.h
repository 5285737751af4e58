/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_elementwise.h - one row of an elementwise kernel.
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

/*
 * `streamed` is for an output larger than the caches and disjoint from the inputs, elements
 * adjacent: step[1] and step[2] are those of adjacent elements or 0. NULL: there is only `row`.
 */
typedef struct elementwise_rows {
    row_kernel row[ROW_TYPES], streamed[ROW_TYPES];
} elementwise_rows;

typedef struct elementwise_kernels {
    elementwise_rows add, sub, mul, div, neg, abs, conj, axpy;
    elementwise_rows exp, log, sqrt, sin, cos, tanh;
} elementwise_kernels;

#endif
