/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_frame.h - sums over the atoms of one frame, or of a part of one, in one pass.
 *
 * A frame is n atoms of three adjacent numbers. d is r - origin, formed in f64 from the start, as
 * is every sum. Masses come from a table in the order of the lanes: lane j of block b of `lanes`
 * atoms is atom b * lanes + order[j], so that coordinates need no reordering, and the table is
 * padded with zeros to whole blocks; `masses` points at a block's start.
 */
#ifndef PLUGINS_CPU_OPENMP_MD_KERNEL_FRAME_H
#define PLUGINS_CPU_OPENMP_MD_KERNEL_FRAME_H

#include <stdint.h>

/* The sums of a pass; members that it does not compute are zero. */
typedef struct frame_sums {
    double first[3];    /* sum m d */
    double second[6];   /* sum m d d^T: xx yy zz xy xz yz */
    double momentum[3]; /* sum m v */
    double vis_viva;    /* sum m v.v */
    double angular[3];  /* sum m d x v */
    double force[3];    /* sum f */
    double torque[3];   /* sum d x f */
} frame_sums;

/* Sums of a frame against a reference of mean zero. */
typedef struct overlap_sums {
    double first[3];      /* sum w d */
    double covariance[9]; /* [i][j] = sum w d_i ref_j */
} overlap_sums;

/* The atoms of a pass. `velocities` and `forces` are read only by the passes that need them. */
typedef struct frame_view {
    const void *positions;
    const void *velocities;
    const void *forces;
    const double *masses;
    int64_t atoms;
    double origin[3];
} frame_view;

/* `wide` here and below: positions, velocities and forces are f64, else f32. */
typedef void (*frame_pass)(int wide, const frame_view *view, frame_sums *sums);

/* The members that a pass computes, as index of `pass`. */
enum {
    FRAME_FIRST,      /* first */
    FRAME_SECOND,     /* first, second */
    FRAME_ANGULAR,    /* angular */
    FRAME_VELOCITIES, /* first, second, momentum, vis_viva, angular */
    FRAME_FORCES,     /* first, second, force, torque */
    FRAME_ALL,
    FRAME_PASSES
};

typedef struct frame_kernels {
    int32_t lanes;        /* atoms a block: a power of two */
    const uint8_t *order; /* of a block's atoms in its lanes */
    frame_pass pass[FRAME_PASSES];
    /* `reference` is three tables in the order of the masses, `stride` elements apart. */
    void (*overlap)(int wide, const frame_view *view, const double *reference, int64_t stride,
                    overlap_sums *sums);
    /* sum w |R d - reference - shift|^2 over the atoms. */
    double (*deviation)(int wide, const frame_view *view, const double *reference, int64_t stride,
                        const double rotation[9], const double shift[3]);
} frame_kernels;

#endif
