/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of rmsd.dev and fit.dev. */
#ifndef COLLET_JIT_MD_RMSD_PARAMS_H
#define COLLET_JIT_MD_RMSD_PARAMS_H

/* The sums of a body: w, w d, w d y^T, w y. */
#define OVERLAP_WEIGHT 0
#define OVERLAP_FIRST 1
#define OVERLAP_COVARIANCE 4
#define OVERLAP_REST 13
#define OVERLAP_ROWS 16

typedef struct rmsd_job {
    md_geometry g;
    md_place r, masses, reference; /* a row is an atom */
    i64 partial;                   /* `partial`, `centres` and `fits` are offsets in the workspace, in f64s */
    i64 centres;                   /* the centre of the reference: 3 numbers per body */
    i64 centres_frame;             /* centres per frame; 0: the same in all frames */
    i64 fits;                      /* the rotation and the shift: 12 numbers per row */
} rmsd_job;

#endif
