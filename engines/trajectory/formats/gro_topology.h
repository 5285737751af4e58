/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gro_topology.h - names and residues of the atoms in the first frame of a .gro file.
 *
 * Residue numbers have five digits and wrap to 0 after 99999; they are kept as written. Atom
 * numbers are ignored: an atom's index is its position in the file. Positions, velocities and the
 * box are checked, not kept.
 */
#ifndef COLLET_IO_GRO_TOPOLOGY_H
#define COLLET_IO_GRO_TOPOLOGY_H

#include "topology.h"

/* For collet_trajectory_format.topology. */
collet_status collet_gro_read_topology(collet_source *source, collet_topology *topology,
                                       collet_error *err);

#endif
