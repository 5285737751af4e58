/* SPDX-License-Identifier: Apache-2.0 */
/*
 * molecules.h - the molecules of a topology.
 *
 * Bonded atoms belong to one molecule. Many files name no bonds, or only some of them (CONECT of a
 * .pdb file). So if an atom of a residue has no bond, all atoms of that residue belong together.
 * Consecutive residues of this kind in a protein or a nucleic acid are joined: C to N, O3' to P. If
 * these atoms are absent, the backbone atoms or beads nearest to them are joined. Residues are not joined if the
 * topology's `separate` is set at the second of the two atoms. The topology's `joints` join residues, too. A metal
 * ion that is alone in its residue is a molecule: bonds of the file between it and other atoms are ignored, except bonds to
 * another such ion. If the file has no
 * residues, each atom without a bond is a molecule.
 */
#pragma once

#include "trajectory/formats/names.h"

/* From what the molecules were determined, as bits; 0: from nothing. */
enum { TRAJECTORY_BY_BONDS = 1, TRAJECTORY_BY_RESIDUES = 2, TRAJECTORY_BY_DISTANCES = 4 };

typedef struct trajectory_molecules {
    int64_t n_atoms;  /* of the topology */
    int64_t count;    /* number of molecules */
    int64_t *of;      /* n_atoms: the molecule of each atom; the first atoms of molecules ascend */
    int64_t *offsets; /* count + 1 */
    int64_t *atoms;   /* n_atoms: molecule m has atoms[offsets[m]] .. atoms[offsets[m + 1] - 1],
                         ascending */
    trajectory_bond *bonds; /* n_bonds: all known bonds, also between residues */
    int64_t n_bonds;
    int64_t n_named; /* the first n_named bonds are from the file; all other bonds join residues */
    int64_t *loose; /* 2 x n_loose: [first, end) of the atoms of residues whose atoms belong
                       together although not all have bonds */
    int64_t n_loose;
    uint32_t known; /* TRAJECTORY_BY_* */
} trajectory_molecules;

/* COLLET_NO_MEMORY. On an error *out is NULL. */
collet_status trajectory_molecules_create(const trajectory_topology *topology,
                                          trajectory_molecules **out, collet_error *err);

/* Finds the molecules from bonds, which must be as in a topology; or, if `offsets` is not NULL (n + 1,
 * ascending, from 0 to n_atoms), from n runs of atoms that belong together. Both are copied. */
collet_status trajectory_molecules_from(int64_t n_atoms, const trajectory_bond *bonds,
                                        int64_t n_bonds, const int64_t *offsets, int64_t n,
                                        trajectory_molecules **out, collet_error *err);

/* The molecules of some of the atoms: the n ascending `atoms`. The new number of an atom is its index in `atoms`.
 * Molecules keep their order; molecules without an atom in the list are left out. */
collet_status trajectory_molecules_subset(const trajectory_molecules *molecules,
                                          const int64_t *atoms, int64_t n,
                                          trajectory_molecules **out, collet_error *err);

/* NULL is allowed. */
void trajectory_molecules_free(trajectory_molecules *molecules);
