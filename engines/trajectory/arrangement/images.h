/* SPDX-License-Identifier: Apache-2.0 */
/* images.h - moves whole molecules to other periodic images. */
#pragma once

#include "trajectory/boxes/path.h"

#include <collet/collet.h>

/* Rows of a frame, n_rows x 3, grouped by their molecules. */
typedef struct trajectory_images {
    int64_t n_rows;
    int64_t count;    /* molecules */
    int64_t *rows;    /* n_rows rows; the rows of molecule m begin at rows[offsets[m]] */
    int64_t *offsets; /* count + 1 */
    uint8_t *fixed;   /* `count` flags; 1: the molecule is never moved alone */
    double *weights;  /* n_rows: weights of the rows in centres; NULL: all are 1 */
    double *before;   /* count x 3: centres in the last frame that has the molecule, as read; NaN: none yet, or fixed */
    double *shifts;   /* count x 3: from `before` to the path without jumps (path.h) */
    _Atomic int64_t far; /* steps beyond TRAJECTORY_FAR; once it is not 0, the members below do not change */
    int64_t far_frame; /* frame and molecule of the first such step */
    int64_t far_molecule;
} trajectory_images;

/* `of`: the molecule of each row, 0 to count - 1; a molecule may have no row. `weights` is copied.
 * COLLET_NO_MEMORY. */
collet_status trajectory_images_create(const int64_t *of, int64_t n_rows, int64_t count,
                                       const double *weights, trajectory_images **out,
                                       collet_error *err);

/* NULL is allowed. */
void trajectory_images_free(trajectory_images *images);

/* Moves the centre of all rows to the middle of the box, and each molecule to its image whose centre is
 * nearest to the middle. For the centre, each molecule counts at its image nearest to the molecules' circular mean, or
 * to their arithmetic mean if they are spread over the whole box. Along an axis without a period nothing moves. Any
 * thread. */
void trajectory_images_center(const trajectory_images *images, const trajectory_lattice *lattice,
                              collet_dtype dtype, void *positions);

/* Moves each molecule to its image whose centre is in the box: fractions of a, b and c from 0 to
 * below 1. Any thread. */
void trajectory_images_pack(const trajectory_images *images, const trajectory_lattice *lattice,
                            collet_dtype dtype, void *positions);

/* Sets `before` and `shifts` from the next frame: the path of each molecule continues from its centre in the frame
 * before to the nearest image of its centre in this frame (path.h). Positions are not changed. lattice NULL: this frame
 * has no box. `frame`: the number of this frame, for images->far_frame. */
void trajectory_images_track(trajectory_images *images, const trajectory_lattice *lattice,
                             collet_dtype dtype, const void *positions, int64_t frame);

/* Tracks the next frame, and moves each molecule by its shift. */
void trajectory_images_follow(trajectory_images *images, const trajectory_lattice *lattice,
                              collet_dtype dtype, void *positions, int64_t frame);

/* The first row of a molecule that has rows. */
int64_t trajectory_images_row(const trajectory_images *images, int64_t molecule);
