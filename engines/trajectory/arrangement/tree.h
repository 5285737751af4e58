/* SPDX-License-Identifier: Apache-2.0 */
/* tree.h - makes molecules whole: each atom is placed at the image nearest to an atom that is placed already. */
#pragma once

#include "trajectory/atoms/molecules.h"
#include "trajectory/boxes/lattice.h"

/* Residues without bonds that have more atoms than this are not made whole: the time would grow with the square of the
 * number of atoms. */
#define TRAJECTORY_SPAN_MOST 4096

/* Whether a molecule is made whole (PLACED), or why not. */
enum {
    TRAJECTORY_PLACED,
    TRAJECTORY_ENDLESS, /* the molecule is bonded to its own image, like a polymer that spans the box */
    TRAJECTORY_UNJOINED /* the molecule has more than TRAJECTORY_SPAN_MOST atoms whose bonds are unknown */
};

typedef struct trajectory_tree {
    int64_t n;
    int64_t *atoms;   /* n, in the order in which they are placed */
    int64_t *parents; /* n: each atom is placed at the image nearest to this atom */
    uint8_t *left;    /* for each molecule: TRAJECTORY_PLACED, or why it is not made whole */
} trajectory_tree;

/* Finds the order from the bonds; for atoms without bonds also from `positions` (n_atoms x 3) of one
 * frame, with its lattice. If `lattice` is NULL, the frame has no box, and endless molecules are not
 * recognised. The first atom of each molecule is never moved. COLLET_NO_MEMORY. */
collet_status trajectory_tree_create(const trajectory_molecules *molecules, const double *positions,
                                     const trajectory_lattice *lattice, trajectory_tree **out,
                                     collet_error *err);

/* NULL is allowed. */
void trajectory_tree_free(trajectory_tree *tree);

/* Places the atoms of one frame, n_atoms x 3 of `dtype`, in place. Any thread. */
void trajectory_tree_place(const trajectory_tree *tree, const trajectory_lattice *lattice,
                           collet_dtype dtype, void *positions);
