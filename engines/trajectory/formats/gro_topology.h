/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gro_topology.h - names and residues of the atoms in the first frame of a .gro file.
 *
 * Residue numbers have five digits and wrap to 0 after 99999; they are kept as written. Atom
 * numbers are ignored: an atom's index is its position in the file. Positions, velocities and the
 * box are checked, not kept.
 */
#ifndef ENGINES_TRAJECTORY_FORMATS_GRO_TOPOLOGY_H
#define ENGINES_TRAJECTORY_FORMATS_GRO_TOPOLOGY_H

#include "names.h"

/* For trajectory_format.topology. */
collet_status trajectory_gro_read_topology(io_source *source, trajectory_topology *topology,
                                           collet_error *err);

#endif
