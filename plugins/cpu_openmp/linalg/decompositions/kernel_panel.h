/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_panel.h - operations on columns and rows between the matrix products of decompositions.
 * The index of a table is [f32, f64]; counts and strides are in elements. The elements of a row are adjacent. */
#pragma once

#include <stdint.h>

#define PANEL_COLUMNS 64 /* the maximum number of columns of a panel of qr */

typedef struct panel_kernels {
    /* The largest magnitude of n numbers, 0 if n is 0; NaN when a number is not finite. */
    double (*largest[2])(const void *x, int64_t n);
    /* x = -x. */
    void (*negate[2])(void *x, int64_t n);
    void (*swap[2])(void *x, void *y, int64_t n);
    /*
     * P A = L U with partial pivoting, in place, of a panel whose column j begins at a + j *
     * stride. Step k exchanges rows k and pivot[k] >= k, k < min(rows, columns). The pivot is the
     * first element of largest magnitude; a column of zeros is skipped. All entries must be finite.
     */
    void (*lu[2])(void *a, int64_t stride, int64_t rows, int64_t columns, int32_t *pivot);
    /* A = Q R of such a panel, rows >= columns, in place: R on and above the diagonal, below it the
     * Householder vectors, which begin with a 1 that is not stored: Q = 1 - V T V^T with the upper
     * triangular T, row-major, columns x columns with zeros below its diagonal (R. Schreiber and
     * C. Van Loan, SIAM J. Sci. Stat. Comput. 10, 53, 1989). All entries must be finite and less than
     * the square root of the largest number. */
    void (*qr[2])(void *a, int64_t stride, int64_t rows, int64_t columns, void *t);
} panel_kernels;
