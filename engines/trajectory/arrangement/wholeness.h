/* SPDX-License-Identifier: Apache-2.0 */
/* wholeness.h - finds molecules of a frame that the periodic box cuts. */
#pragma once

#include "trajectory/atoms/molecules.h"
#include "trajectory/boxes/lattice.h"

typedef struct trajectory_cut {
    int64_t count;   /* molecules with a bond, or a residue, longer than half the box */
    int64_t atom;    /* first atom of the first such residue or bond */
    int64_t next;    /* the atom it is bonded to; -1: the atoms of its residue are apart */
    int32_t axis;    /* vector of the box, 0 to 2, along which these atoms are apart */
    double distance; /* their distance along this vector, in units of its length; above 0.5 */
} trajectory_cut;

/* Looks in a frame, n_atoms x 3 positions, for bonds that are longer than half the box along a vector of the box
 * although another image is nearer. Also looks for residues without known bonds that are longer than half the box. If
 * neither bonds nor residues are known, all atoms count as one residue. Molecules with skip[m] != 0 are left out;
 * `skip` may be NULL. COLLET_NO_MEMORY. */
collet_status trajectory_cut_find(trajectory_cut *cut, const trajectory_molecules *molecules,
                                  const double *positions, const trajectory_lattice *lattice,
                                  const uint8_t *skip, collet_error *err);
