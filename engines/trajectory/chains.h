/* SPDX-License-Identifier: Apache-2.0 */
/* chains.h - finds out from the first frame which residues are bonded to each other. */
#pragma once

#include "settings.h"
#include "trajectory/formats/names.h"

/*
 * Reads the first frame of the run to find two facts that are not in the file's bonds:
 *
 * - The residue numbers of one chain may continue in the next chain, although no chain name and no atom marks the end
 *   of the first chain. Then molecules.h would join the last residue of one chain to the first residue of the next.
 *   The topology's `separate` is set if the atoms of two such residues are too far from each other for a bond.
 * - Residues of polymers, glycans, modified amino acids and disulfides are bonded to other residues. The topology's
 *   `joints` are set to the pairs of atoms of two molecules, at least one of them without a bond of the file, that
 *   are as near as atoms with a covalent bond: at most 0.03 nm (with S, P, halogens 0.015) more than the sum of their
 *   covalent radii (Cordero et al. 2008, doi 10.1039/b801115j). Residues with more than two such pairs, or with
 *   a pair at less than half of this sum, clash and are not joined. Hydrogen, metals, waters and atoms without a
 *   known element are not joined either.
 *
 * Distances are to the nearest image if the frame has a box. If nothing is to be found out, nothing is read. Faults of
 * files are ignored here and reported by later readers. Errors: COLLET_NO_MEMORY, and errors of a source.
 */
collet_status trajectory_chains_find(trajectory_topology *topology,
                                     const trajectory_settings *settings, collet_error *err);
