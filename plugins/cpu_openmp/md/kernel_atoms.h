/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_atoms.h - sums over the atoms of one body in one frame, or of a part of them, in one pass;
 * and of several bodies of few atoms, one in each lane.
 *
 * Atoms are n triples of adjacent numbers. d is r - origin, formed in f64 from the start, as is
 * every sum.
 */
#ifndef PLUGINS_CPU_OPENMP_MD_KERNEL_ATOMS_H
#define PLUGINS_CPU_OPENMP_MD_KERNEL_ATOMS_H

#include <stdint.h>

/* The sums of a pass; members that it does not compute are zero. */
typedef struct frame_sums {
    double first[3];    /* sum m d */
    double second[6];   /* sum m d d^T: xx yy zz xy xz yz */
    double mass;        /* sum m; by all passes but FRAME_ANGULAR */
    double momentum[3]; /* sum m v */
    double vis_viva;    /* sum m v.v */
    double angular[3];  /* sum m d x v */
    double force[3];    /* sum f */
    double torque[3];   /* sum d x f */
    double unused;      /* whole vectors, at any level */
} frame_sums;

/* The sums of a body about its centre of mass, laid out as frame_sums. `energies`: total,
 * translational, rotational; the last is below 0 where they are to be computed from the sums. */
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

/* The squared distance between origin and centre, relative to the squared extent, from which a
 * body is summed again: the subtraction then costs two of sixteen digits. */
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

/* The reference of a pass, atom by atom like the view, and its centre. */
typedef struct frame_reference {
    const void *positions;
    int wide;
    double centre[3];
} frame_reference;

/* Bodies in lanes, at most: the lanes of the widest level. */
#define FRAME_BODIES 8

/* One array of frame_bodies: first atoms of the bodies, and steps in bytes from atom to atom and
 * from number to number. */
typedef struct frame_field {
    const char *at[FRAME_BODIES];
    int64_t atom_step, step;
} frame_field;

/* Bodies of at least one atom each, with masses. Strides are any. */
typedef struct frame_bodies {
    frame_field r, v, f, m; /* v and f only where the pass needs them */
    int wide, wide_masses;
    int64_t atoms[FRAME_BODIES];
} frame_bodies;

/* `wide` here and below: positions, velocities and forces are f64, else f32. */
typedef void (*frame_pass)(int wide, const frame_view *view, frame_sums *sums);

/* The members that a pass computes, as index of `pass`. */
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
    /* The sums of each body, taken about its first atom; members that the pass does not compute are
     * not written. `pass`: FRAME_SECOND or one of the following. Bit i of the result: the first atom
     * of body i is too far from the centre (FRAME_FAR), and its sums are useless. */
    uint32_t (*sum)(int pass, const frame_bodies *bodies, body_sums *sums);
} body_kernels;

#endif
