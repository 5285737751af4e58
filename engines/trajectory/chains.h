/* SPDX-License-Identifier: Apache-2.0 */
/* chains.h - tells from the first frame where one chain ends and the next begins. */
#ifndef ENGINES_TRAJECTORY_CHAINS_H
#define ENGINES_TRAJECTORY_CHAINS_H

#include "settings.h"
#include "trajectory/formats/names.h"

/*
 * The residue numbers of one chain may continue in the next, without a chain name or an atom that marks
 * the end of the first. molecules.h joins such residues although the file names no bond. So the first
 * frame of the run is read, and the topology's `separate` is set where the atoms of two residues are too
 * far from each other for a bond (to the nearest image if the frame has a box). Without such residues no
 * frame is read. Faults of files are left to their readers; errors are COLLET_NO_MEMORY, and a source's
 * own.
 */
collet_status trajectory_chains_separate(trajectory_topology *topology,
                                         const trajectory_settings *settings, collet_error *err);

#endif
