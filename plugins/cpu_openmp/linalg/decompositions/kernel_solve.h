/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_solve.h - small systems of linear equations and Cholesky factors, one per lane of a vector register.
 * The index of a table is [f32, f64]. */
#pragma once

#include <stdint.h>

#define SOLVE_ORDER 16   /* the order of the largest matrix */
#define SOLVE_COLUMNS 16 /* the maximum number of columns of the right sides */
#define SOLVE_LANES 16   /* the maximum number of lanes */
/* Bytes of scratch that one group needs, on any processor. */
#define SOLVE_BYTES ((SOLVE_ORDER * (SOLVE_ORDER + SOLVE_COLUMNS) + 1) * 64)

/* `count` systems a x = b of one shape, or `count` matrices a with their Cholesky factors x; all steps in bytes. */
typedef struct solve_group {
    int64_t n, columns;
    int64_t a_row, a_column, b_row, b_column, x_row, x_column;
    int32_t count;
    const char *a[SOLVE_LANES], *b[SOLVE_LANES];
    char *x[SOLVE_LANES];
} solve_group;

typedef struct solve_kernels {
    int32_t lanes[2]; /* the largest count */
    /* Gaussian elimination with partial pivoting. Bit i of the result is set if system i was refused; its
     * x is not written. The function refuses a system if a number is not finite, if numbers or pivots need scaling
     * because they are near the ends of the range, or if a pivot is 0.
     * `scratch`: SOLVE_BYTES, 64-byte aligned. */
    uint32_t (*solve[2])(const solve_group *group, void *scratch);
    /*
     * a = x x^T, where x is lower triangular. Uses the lower triangle of a; `b` and `columns` are not used. The
     * function refuses matrices that are not positive definite, not finite or near the ends of the range. `scratch`:
     * as for solve.
     */
    uint32_t (*cholesky[2])(const solve_group *group, void *scratch);
} solve_kernels;
