/* SPDX-License-Identifier: Apache-2.0 */
/* segment.h - adjacent pixels of a row that use the same slice of the spectra, or amplitudes at their own q_z. */
#pragma once

#include "scatter/adjoint/adjoint.h"

#define TILE ADJOINT_TILE

/* One energy. In the arrays, values of adjacent pixels are adjacent; fields are TILE values apart. */
typedef struct scatter_segment {
    int64_t n;
    int64_t materials, angles; /* angles = 0: three images represent all angles */
    const scatter_part *parts;
    const double (*c)[3][2];    /* constants of each material, divided by 4 pi */
    const double (*axis)[3];    /* e1, e2, k */
    const double (*turn)[3][6]; /* for each angle: maps p1, p2 to the polarisation */
    const double *qx;
    double k[3], qy, square;
    const double *qz;        /* q_z of each pixel */
    const double *weight;    /* weight of the slice */
    const double *images[3]; /* cotangents of the three images; angles > 0: [0] is the first angle's */
    int64_t image_step;      /* distance from one angle's image to the next */
    const double *re, *im;   /* spectra of the fields */
    double *to_re, *to_im;   /* cotangents of re, im: results are added */
    double *to_c;            /* [materials, 6, TILE]: cotangents of c: results are added */
} scatter_segment;

void scatter_segment_run(const scatter_segment *g);
