/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pdb_topology.h - names, residues and elements of the atoms in the first model of a .pdb file.
 *
 * Residue numbers have four columns: decimal; five digits with the column of the insertion code;
 * hybrid-36 above 9999 (A000 is 10000); or hexadecimal where that continues the numbering, as VMD
 * writes it. Residues that differ in the insertion code alone share their number. Serial numbers
 * are ignored: an atom's index is its position in the file.
 */
#ifndef ENGINES_TRAJECTORY_FORMATS_PDB_TOPOLOGY_H
#define ENGINES_TRAJECTORY_FORMATS_PDB_TOPOLOGY_H

#include "names.h"

/* For trajectory_format.topology. */
collet_status trajectory_pdb_read_topology(io_source *source, trajectory_topology *topology,
                                           collet_error *err);

#endif
