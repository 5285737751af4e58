/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_atoms.h - sums over atoms in one pass: over all or some atoms of one body in one frame, or over
 * several bodies of few atoms, one body per vector lane.
 *
 * The coordinates of an atom are three adjacent numbers. d is r - origin. d and all sums are computed in
 * f64.
 */
#pragma once

#include <stdint.h>

/* The sums of a pass; members that it does not compute are zero. */
typedef struct frame_sums {
    double first[3];    /* sum m d */
    double second[6];   /* sum m d d^T: xx yy zz xy xz yz */
    double mass;        /* sum m; all passes but FRAME_ANGULAR compute it */
    double momentum[3]; /* sum m v */
    double vis_viva;    /* sum m v.v */
    double angular[3];  /* sum m d x v */
    double force[3];    /* sum f */
    double torque[3];   /* sum d x f */
    double unused;      /* pads the struct to whole vectors of every level */
} frame_sums;

/* The sums of a body about its centre of mass, laid out as frame_sums. `energies`: total, translational,
 * rotational. A negative rotational energy means that the caller must compute the energies from the sums. */
typedef struct body_sums {
    double com[3];
    double second[6], mass, momentum[3], vis_viva, angular[3];
    double energies[3];
    double torque[3];
    double unused;
} body_sums;

/* If a pivot of an inertia tensor is below this fraction of the largest moment, eigenvectors are
 * used to invert it. */
#define FRAME_WELL_CONDITIONED 1e-2

/* If the squared distance between origin and centre exceeds this multiple of the squared extent, the body is
 * summed again about its centre: moving the sums would cost two of sixteen digits. */
#define FRAME_FAR 64.0

/* Sums of a body against a reference; e = ref - centre. */
typedef struct overlap_sums {
    double first[3];      /* sum w d */
    double rest[3];       /* sum w e */
    double covariance[9]; /* [i][j] = sum w d_i e_j */
} overlap_sums;

/* The atoms of a pass. `velocities` and `forces` are read only by the passes that need them;
 * `masses` NULL: all 1. */
typedef struct frame_view {
    const void *positions;
    const void *velocities;
    const void *forces;
    const void *masses;
    int wide_masses; /* f64 */
    int64_t atoms;
    double origin[3];
} frame_view;

/* The reference positions of the atoms in a frame_view, in the same order, and their centre. */
typedef struct frame_reference {
    const void *positions;
    int wide;
    double centre[3];
} frame_reference;

/* The most bodies that are summed together: the lanes of the widest level. */
#define FRAME_BODIES 8

/* One array of frame_bodies: the addresses of the bodies' first atoms, and the steps in bytes between atoms
 * and between the numbers of an atom. */
typedef struct frame_field {
    const char *at[FRAME_BODIES];
    int64_t atom_step, step;
} frame_field;

/* Bodies with masses, of at least one atom each. They may have any strides. */
typedef struct frame_bodies {
    frame_field r, v, f, m; /* v and f are set only if the pass needs them */
    int wide, wide_masses;
    int64_t atoms[FRAME_BODIES];
} frame_bodies;

/* `wide` here and below: positions, velocities and forces are f64, else f32. */
typedef void (*frame_pass)(int wide, const frame_view *view, frame_sums *sums);

/* Indices of `pass`, with the members of frame_sums that the pass computes. */
enum {
    FRAME_FIRST,      /* first, mass */
    FRAME_SECOND,     /* first, second, mass */
    FRAME_ANGULAR,    /* angular */
    FRAME_VELOCITIES, /* first, second, mass, momentum, vis_viva, angular */
    FRAME_FORCES,     /* first, second, mass, force, torque */
    FRAME_ALL,
    FRAME_PASSES
};

typedef struct frame_kernels {
    frame_pass pass[FRAME_PASSES];
    void (*overlap)(int wide, const frame_view *view, const frame_reference *reference,
                    overlap_sums *sums);
    /* sum w |R d - e - shift|^2 over the atoms. */
    double (*deviation)(int wide, const frame_view *view, const frame_reference *reference,
                        const double rotation[9], const double shift[3]);
} frame_kernels;

typedef struct body_kernels {
    int32_t lanes; /* 1 .. FRAME_BODIES */
    /* Computes the sums of each body: first about its first atom, then moved to its centre of mass. Members
     * that the pass does not compute are not written. `pass`: FRAME_SECOND or a later index. Bit i of the
     * result is set if the first atom of body i is too far from the centre (FRAME_FAR); its sums are then
     * useless. */
    uint32_t (*sum)(int pass, const frame_bodies *bodies, body_sums *sums);
} body_kernels;
