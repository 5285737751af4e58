/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of sums.dev and finish.dev. */
#ifndef COLLET_JIT_MD_SUMS_PARAMS_H
#define COLLET_JIT_MD_SUMS_PARAMS_H

/* Values of the option WHAT: the quantities that are summed. */
#define MD_MOMENTS 1u /* mass, first and second moments */
#define MD_ANGULAR 2u
#define MD_LINEAR 4u /* momentum and energy */
#define MD_FORCES 8u

/* The sums of a body. */
#define SUM_MASS 0
#define SUM_FIRST 1
#define SUM_SECOND 4
#define SUM_MOMENTUM 10
#define SUM_VIS_VIVA 13
#define SUM_ANGULAR 14
#define SUM_FORCE 17
#define SUM_TORQUE 20
#define SUM_ROWS 23

/* Whether `what` selects sum k. */
#define SUM_IS_SET(what, k)                                                                        \
    (((what) & ((k) < SUM_MOMENTUM  ? MD_MOMENTS                                                   \
                : (k) < SUM_ANGULAR ? MD_LINEAR                                                    \
                : (k) < SUM_FORCE   ? MD_ANGULAR                                                   \
                                    : MD_FORCES)) != 0)

typedef struct sums_job {
    md_geometry g;
    md_place r, v, f;     /* a row is an atom */
    md_place masses;      /* a row is an atom; there is one column */
    md_place given;       /* the operand with origins; if absent, the bodies' first atoms */
    i64 partial, origins; /* offsets of the sums and the origins in the workspace, in sums */
    i64 list;             /* offset, in i32s, of the number of listed rows, then the rows */
    i32 listed;           /* 1: sums only listed rows, about the origins in the workspace */
    i32 unused;
} sums_job;

typedef struct finish_job {
    md_geometry g;
    i64 totals, origins, list;
    i32 set;   /* bit k: there is a sum k */
    i32 round; /* 0: nothing is summed again; 1: bodies to sum again are listed; 2: these are processed */
    i32 moves; /* 1: sums are moved to the centre of mass */
    i32 unused;
} finish_job;

/* Results, optional. */
enum {
    MD_COM,
    MD_INERTIA,
    MD_L,
    MD_TORQUE,
    MD_ENERGIES,
    MD_RADIUS,
    MD_TENSOR,
    MD_ASPHERICITY,
    MD_RESULTS
};

typedef struct finish_places {
    md_place at[MD_RESULTS];
} finish_places;

#endif
