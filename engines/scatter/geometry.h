/* SPDX-License-Identifier: Apache-2.0 */
/* geometry.h - axes of q, the beam, the angles of polarisation, and coefficients of the fields. */
#pragma once

#include "scatter/state.h"

/* Computes q of n pixels. `blank_last` = 1: if the grid is not exact, q of the last pixel is NaN, because CyRSoXS omits
 * this pixel. */
void scatter_axis(double *q, int64_t n, const collet_scatter_options *options, int blank_last);
/* Computes the directions of the electric field at 0 and 90 degrees and of the beam. */
void scatter_directions(double axis[3][3], const double direction[3]);
/* Sets `warp`, the map of the image: the upper left 2 x 2 part of the rotation of z to the beam and
 * then to the detector's normal. Returns its determinant; NaN for a normal along -z. */
double scatter_warp_of(double warp[2][2], const double direction[3], const double normal[3]);
/* Warps a pattern by the detector's rotation; s->warped is scratch. Unless the grid is exact, the four pixels around a
 * position are read even if their weight is 0, as CyRSoXS does. */
void scatter_warp(const collet_scatter *s, void *values);
/* The largest |q_z| of a pixel on the exact grid; INFINITY for films of one layer. */
double scatter_limit(const collet_scatter_options *options);
/* q_z of pixel qx, qy for the wave vector k, with `square` = k k; NaN if Ewald's sphere does not meet the pixel, or
 * beyond the limit. */
double scatter_qz(const collet_scatter_options *options, const double k[3], double square, double qx,
                  double qy);
/* The coordinate, along an axis of n pixels, about which images turn and patterns are warped. */
double scatter_middle(const collet_scatter *s, int64_t n);
/* Lists the pixels next to q = 0. Returns their number, 0 to 4. */
int scatter_beside_zero(const collet_scatter *s, int64_t pixels[4]);
/* Returns the height of a pixel divided by its width, both in q. */
double scatter_aspect(const collet_scatter *s);
/* Returns the number of angles and sets `radians`, which may be NULL. */
int64_t scatter_angles(const double angles[3], double *radians);
/* Returns the wave number |k| of an energy, 1/nm. */
double scatter_wave(double energy);
/* 1 if Ewald's sphere meets a pixel within the slices; else 0, and *nearest becomes |q| of a pixel next to the
 * middle. */
int scatter_reaches(const collet_scatter_options *options, double energy, double *nearest);

/* Computes the real and imaginary parts of c0, c1 and c2 of docs/KERNELS.md. */
void scatter_constants(const collet_scatter_constants *n, double c[3][2]);
/* Sets the coefficients of the `count` fields of a material in the polarisations p1x, p1y, p1z, p2x, p2y, p2z
 * for the fields e1 and e2. The six lists of coefficients begin `stride` elements apart. */
void scatter_weights(const double axis[3][3], const double c[3][2], int64_t count, int64_t stride,
                     double (*weights)[2]);
