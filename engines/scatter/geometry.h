/* SPDX-License-Identifier: Apache-2.0 */
/* geometry.h - axes of q, the beam, the angles of polarisation, and coefficients of the fields. */
#ifndef ENGINES_SCATTER_GEOMETRY_H
#define ENGINES_SCATTER_GEOMETRY_H

#include "scatter/state.h"

/* q of n pixels; `blank_last`: NaN for the last, which CyRSoXS leaves out. */
void scatter_axis(double *q, int64_t n, const collet_scattering_options *options, int blank_last);
/* The directions of the field at 0 and 90 degrees and of the beam. */
void scatter_directions(double axis[3][3], const double direction[3]);
/* The upper left part of the rotations of z to the beam and then to the detector's normal: how the
 * image is warped. Its determinant; NaN for a normal along -z. */
double scatter_warp_of(double warp[2][2], const double direction[3], const double normal[3]);
/* Warps a pattern, through s->warped, by the detector's rotation; the four pixels about a place are
 * read, also with weight 0, as CyRSoXS does. */
void scatter_warp(const collet_scattering *s, void *values);
/* The height of a pixel over its width, in q. */
double scatter_aspect(const collet_scattering *s);
/* The number of angles; radians may be NULL. */
int64_t scatter_angles(const double angles[3], double *radians);
/* |k| of an energy, 1/nm. */
double scatter_wave(double energy);
/* Whether Ewald's sphere meets a pixel within the slices; if not, *nearest is |q| of that next to
 * the middle. */
int scatter_reaches(const collet_scattering_options *options, double energy, double *nearest);

/* re and im of c0, c1, c2 of docs/KERNELS.md. */
void scatter_constants(const collet_scattering_constants *n, double c[3][2]);
/* Coefficients of the fields of a material in p1x .. p2z; part->count of each, `stride` apart. */
void scatter_weights(const double axis[3][3], const double c[3][2], int64_t count, int64_t stride,
                     double (*weights)[2]);

#endif
