/* SPDX-License-Identifier: Apache-2.0 */
/* chains.h - finds out from the first frame where one chain ends and the next begins. */
#ifndef ENGINES_TRAJECTORY_CHAINS_H
#define ENGINES_TRAJECTORY_CHAINS_H

#include "settings.h"
#include "trajectory/formats/names.h"

/*
 * The residue numbers of one chain may continue in the next chain, without a chain name or an atom that marks the
 * end of the first. Then molecules.h joins the two residues, although the file names no bond. So this function reads
 * the first frame of the run and sets the topology's `separate` where the atoms of two such residues are too far
 * from each other for a bond (to the nearest image if the frame has a box). Without such residues it reads nothing.
 * Faults of files are ignored here and reported by later readers. Errors: COLLET_NO_MEMORY, and errors of a source.
 */
collet_status trajectory_chains_separate(trajectory_topology *topology,
                                         const trajectory_settings *settings, collet_error *err);

#endif
