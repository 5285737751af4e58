/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_scatter.h - the loops of the scatter family over adjacent elements. The index of a table
 * is [f32, f64]; arithmetic is in that type, and sums over angles are in f64.
 */
#ifndef COLLET_OPENMP_KERNELS_SCATTER_H
#define COLLET_OPENMP_KERNELS_SCATTER_H

#include <stdint.h>

/* A pixel that is read: its first energy, and its weight. */
typedef struct scatter_tap {
    const char *at;
    double weight;
} scatter_tap;

/* The taps of one angle: count of them, -1: the angle is outside of the images. */
typedef struct scatter_angle {
    const scatter_tap *taps;
    int64_t count;
} scatter_angle;

/* Six complex numbers a pixel: the first of each, adjacent pixels. */
typedef struct scatter_row {
    const char *amplitude[6];
    const double *sx, *sz; /* s of the pixels, and of the slice that they show */
    double sy, k_square;
} scatter_row;

typedef struct scatter_kernels {
    /* out[e] = the mean over the angles of sum weight tap[e], e < n, out_step bytes apart; `mask`:
     * without NaN, 0 if there is nothing else. */
    void (*mean[2])(const scatter_angle *angles, int64_t n_angles, int mask, int64_t n, char *out,
                    int64_t out_step);
    /*
     * out[i] = before[i] + sum over fields of weight f[i], i < n, complex. `before` may be `out` or
     * NULL. `reversed`: f[n - 1 - i]; `conjugate`: its conjugate.
     */
    void (*combine[2])(char *out, const char *before, const char *const *f,
                       const double (*weights)[2], int64_t fields, int64_t n, int reversed,
                       int conjugate);
    /* out[i] = |k^2 p - s (s p)|^2, p = c p1 + s p2, i < n. */
    void (*intensity[2])(const scatter_row *row, double c, double s, int64_t n, double *out);
} scatter_kernels;

#endif
