/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arrangement.h - what happens to a frame between reading and the kernels.
 *
 * The reader delivers some atoms of the topology in ascending order; kernels get the members, which
 * may be fewer, in another order, and repeated.
 */
#ifndef ENGINES_TRAJECTORY_ATOMS_ARRANGEMENT_H
#define ENGINES_TRAJECTORY_ATOMS_ARRANGEMENT_H

#include "choice.h"
#include "trajectory/formats/names.h"
#include "trajectory/reading/readahead.h"

typedef struct trajectory_arrangement trajectory_arrangement;

typedef struct trajectory_arrangement_setup {
    const trajectory_topology *topology;
    const int64_t *members; /* n_members >= 1 atoms of the topology, in the order of the results;
                               copied */
    int64_t n_members;
    trajectory_choice *choice; /* that varies, and has all members; valid as long as the
                                  arrangement: a frame has masses, which are 0 for members that it
                                  does not choose. NULL: none */
    const double *masses;      /* of the members, amu; copied; with a choice only */
} trajectory_arrangement_setup;

/* COLLET_NO_MEMORY. On an error *out is NULL. */
collet_status trajectory_arrangement_create(const trajectory_arrangement_setup *setup,
                                            trajectory_arrangement **out, collet_error *err);

/* NULL is allowed. */
void trajectory_arrangement_free(trajectory_arrangement *arrangement);

/* The atoms that the reader must deliver, *n of them, ascending; valid as long as the arrangement. */
const int64_t *trajectory_arrangement_atoms(const trajectory_arrangement *arrangement, int64_t *n);

/* NULL: frames are used as read. Valid as long as the arrangement. */
const trajectory_arranger *
trajectory_arrangement_arranger(const trajectory_arrangement *arrangement);

#endif
