/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/linalg/vector.c */
#include "kernel_vector.h"

#include "cpu_openmp/util/kernel_sums.h"

/* This many products are summed as a tree without compensation: the few roundings are harmless. */
#define TREE 8

/* The maximum number of independent partial sums per row, which hide latency. */
#define VECTOR_CHAINS 4

#define REAL float
#define NAME(x) x##_f32
#include "kernel_vector.inc"

#define REAL double
#define NAME(x) x##_f64
#include "kernel_vector.inc"

#include "kernel_vector_narrow.inc"

extern const vector_kernels LEVEL_NAME(vector);
const vector_kernels LEVEL_NAME(vector) = {
    .dot = {dot_f32, dot_f64},
    .rows = {rows_f32, rows_f64},
    .columns = {columns_f32, columns_f64},
    .short_columns = {short_columns_f32, short_columns_f64},
    .narrow_rows = narrow_rows,
    .narrow_columns = narrow_columns,
};
