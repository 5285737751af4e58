/* SPDX-License-Identifier: Apache-2.0 */
/*
 * panel.h - what decompositions do to columns and rows between their products of matrices. The
 * index of a table is [f32, f64]; counts and strides are in elements, elements of a row adjacent.
 */
#ifndef COLLET_OPENMP_KERNELS_PANEL_H
#define COLLET_OPENMP_KERNELS_PANEL_H

#include <stdint.h>

typedef struct panel_kernels {
    /* The largest magnitude of n numbers, 0 of none; NaN when one is not finite. */
    double (*largest[2])(const void *x, int64_t n);
    /* x = -x. */
    void (*negate[2])(void *x, int64_t n);
    void (*swap[2])(void *x, void *y, int64_t n);
    /*
     * P A = L U with partial pivoting, in place, of a panel whose column j begins at a + j *
     * stride: step k exchanged rows k and pivot[k] >= k, k < min(rows, columns). Of equal
     * magnitudes the first is the pivot; a column without one is passed over. Finite entries.
     */
    void (*lu[2])(void *a, int64_t stride, int64_t rows, int64_t columns, int32_t *pivot);
} panel_kernels;

#endif
