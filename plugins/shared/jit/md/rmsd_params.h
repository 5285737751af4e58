/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of rmsd.dev and fit.dev. */
#ifndef COLLET_JIT_MD_RMSD_PARAMS_H
#define COLLET_JIT_MD_RMSD_PARAMS_H

/* Rows of the sums of a frame: w, w d, w d y^T, w y. */
#define OVERLAP_WEIGHT 0
#define OVERLAP_FIRST 1
#define OVERLAP_COVARIANCE 4
#define OVERLAP_REST 13
#define OVERLAP_ROWS 16

typedef struct rmsd_job {
    md_geometry g;
    md_place r, masses, reference; /* a row is an atom */
    i64 partial;                   /* their offsets in the workspace, in f64s */
    i64 centre;                    /* of the reference: 3 numbers */
    i64 fits;                      /* a frame's rotation and shift: 12 numbers */
} rmsd_job;

#endif
