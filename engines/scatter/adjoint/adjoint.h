/* SPDX-License-Identifier: Apache-2.0 */
/* adjoint.h - the steps of the fast method in reverse order. Each step gets the cotangent of its
 * result, dL / d(result), and computes the cotangents of its operands. The cotangent of a complex
 * number is dL / d(real part) + i dL / d(imaginary part). The work is done on the host. */
#pragma once

#include "scatter/adjoint/parallel.h"
#include "scatter/state.h"

#define ADJOINT_BLOCK 32 /* energies at a time: bits of `valid` */
#define ADJOINT_TILE 64  /* pixels of a row at a time */

/* dL / d(c0, c1, c2) of a material: real and imaginary parts. */
typedef double adjoint_constants[3][2];

typedef struct scatter_adjoint {
    collet_scatter *s;
    int threads;
    collet_scatter_gradients out; /* results; NULL: not computed */
    const void *cotangents;          /* cotangents of the patterns: [energies, Y, X] */
    int64_t first, count;            /* energies of the block */
    double (*wave)[4];               /* for each energy of the block: the vector k, and k . k */
    double (*turn)[2];               /* cosine and sine of each angle */
    uint32_t *valid;        /* [Y, X], bit e: Ewald's sphere of energy first + e meets the pixel */
    uint32_t *reached;      /* only with `mask`: [angles, Y, X], bit e: the pixel of the rotated image is not NaN */
    double *mean;           /* [Y, X, count]: cotangents of an angle's image, rotated back */
    const void *slices;     /* slices of the forward run: [depth, F, Y, X] */
    void *slice_cotangents; /* the same shape */
    void **scratch;         /* of each thread */
    adjoint_constants *row_constants; /* [Y, block, materials] */
    adjoint_constants *constants;     /* [energies, materials] */
    double *losses;                   /* [energies]: dL / d(logarithm of the transmission) */
    double
        *by_fraction; /* [materials]: for one pass, the part of dL / d(volume fraction of a voxel)
                         that is due to the attenuation; the same for all voxels */
    int no_memory;
} scatter_adjoint;

/* Returns the position at which Ewald's sphere crosses a pixel's line along z, in slices; NaN outside. */
double scatter_place(const collet_scatter *s, const double wave[4], double qx, double qy);

/* Sets valid, reached and mean from the cotangents of the patterns of the block. */
void scatter_adjoint_patterns(scatter_adjoint *a);
/* Computes the cotangents of the images [K, count, ADJOINT_TILE] at n pixels of row y, from x on. */
void scatter_adjoint_average(const scatter_adjoint *a, int64_t y, int64_t x, int64_t n,
                             double *images);
/* Bytes of a thread's scratch for scatter_adjoint_images. */
size_t scatter_adjoint_scratch(const scatter_adjoint *a);
/* Adds the contribution of the block to slice_cotangents and `constants`. */
void scatter_adjoint_images(scatter_adjoint *a);
/* Adds the contribution of the pass to the gradients of the voxels. */
collet_status scatter_adjoint_fields(scatter_adjoint *a);
