/* SPDX-License-Identifier: Apache-2.0 */
/* members.h - the atoms that are read, and the indices of the results' members in the list of these atoms. */
#pragma once

#include "trajectory/atoms/choice.h"
#include "trajectory/atoms/molecules.h"
#include "trajectory/atoms/system.h"

/* This struct is also the setup of an arrangement. */
typedef struct trajectory_arrangement_setup {
    const trajectory_topology *topology;
    const int64_t *members; /* n_members >= 1 atoms of the topology, in the order of the results;
                               copied */
    int64_t n_members;
    const int64_t *offsets; /* body b has the members offsets[b] to offsets[b + 1] - 1; copied */
    int64_t n_bodies;
    trajectory_choice *choice; /* a choice that varies and has all members; it must outlive the
                                  arrangement. Each frame then has its own masses: 0 for members
                                  that are not chosen in it. NULL: none */
    const double *masses;      /* n_members, amu; copied. NULL without a choice: all masses are 1 */
    const trajectory_system *system; /* the atoms whose drift is removed; NULL: none is removed */
    uint32_t pbc;              /* COLLET_TRAJECTORY_PBC_* */
    uint32_t drift;            /* COLLET_TRAJECTORY_DRIFT_*; KEEP if system is NULL */
} trajectory_arrangement_setup;

typedef struct trajectory_members {
    int64_t *atoms; /* atoms to be read, ascending */
    int64_t n_atoms;
    int64_t *sources; /* n_members: index of each member in `atoms` */
    int64_t n_members;
    int64_t *system;           /* index in `atoms` of each atom of the system */
    trajectory_choice *choice; /* NULL: the same atoms in all frames */
    int64_t *choice_rows;      /* index in `atoms` of each atom of the choice */
    int64_t *choice_members;   /* n_members: index of each member among the choice's members */
    int64_t n_chosen;          /* members of the choice */
    double *masses;
} trajectory_members;

/* Fills zeroed members. `all`: the molecules of the topology. COLLET_NO_MEMORY; free the members also after this
 * error. */
collet_status trajectory_members_create(trajectory_members *members,
                                        const trajectory_arrangement_setup *setup,
                                        const trajectory_molecules *all, collet_error *err);
void trajectory_members_free(trajectory_members *members);

/* 1 if frames are used as they are read: the members are the atoms that are read, in their order, in all frames. */
int trajectory_members_are_read(const trajectory_members *members);

/* Copies the members of frame i of `read` to frame k of `out`. Any thread. */
void trajectory_members_gather(const trajectory_members *members, const trajectory_frames *read,
                               int64_t i, trajectory_frames *out, int64_t k);

/* Finds the atoms that the choice selects in frame i of `read`, for frame k of `out`. Other atoms get the mass 0;
 * they also get the force 0, because the torque does not depend on masses. COLLET_NO_MEMORY. Any thread. */
collet_status trajectory_members_choose(const trajectory_members *members,
                                        const trajectory_frames *read, int64_t i,
                                        trajectory_frames *out, int64_t k, collet_error *err);
