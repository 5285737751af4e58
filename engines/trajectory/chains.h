/* SPDX-License-Identifier: Apache-2.0 */
/* chains.h - tells from the first frame where one chain ends and the next begins. */
#ifndef ENGINES_TRAJECTORY_CHAINS_H
#define ENGINES_TRAJECTORY_CHAINS_H

#include "settings.h"
#include "trajectory/formats/names.h"

/*
 * Two chains may be numbered on without a name or an atom that tells where the first one ends. So the
 * residues that molecules.h joins, although no bond is named, are looked at in the first frame that
 * the settings read: the topology's `separate` is set where their atoms, by the nearest image if the
 * frame has a box, are too far from each other for a bond. Without such residues no frame is read. What
 * is wrong with files is left to who reads them; errors are COLLET_NO_MEMORY, and a source's own.
 */
collet_status trajectory_chains_separate(trajectory_topology *topology,
                                         const trajectory_settings *settings, collet_error *err);

#endif
