/* SPDX-License-Identifier: Apache-2.0 */
/* links.h - bonds that a file names by the chains, residues and names of their atoms. */
#pragma once

#include "names.h"

typedef struct trajectory_link_end {
    int32_t residue; /* residue number */
    char insertion;  /* insertion code; 0: none */
    char chain[TRAJECTORY_ATOM_NAME];
    char name[TRAJECTORY_ATOM_NAME];
    int64_t atom; /* set by trajectory_links_find */
} trajectory_link_end;

typedef struct trajectory_links {
    trajectory_link_end *ends; /* n, freed by the caller; ends 2k and 2k + 1 are bonded */
    int64_t n, capacity;
} trajectory_links;

/* Adds a link between two ends. Returns 0 if out of memory. */
int trajectory_links_add(trajectory_links *links, const trajectory_link_end ends[2]);

/* Appends the bonds between atoms of the topology to the *n_bonds elements of *bonds, which has room for *capacity;
 * the caller frees *bonds. A bond of an atom that the topology does not have is dropped. If several atoms match an
 * end of a bond, the bond is not used and counted in bonds_left_out. COLLET_NO_MEMORY. */
collet_status trajectory_links_find(const trajectory_links *links, trajectory_topology *topology,
                                    trajectory_bond **bonds, int64_t *n_bonds, int64_t *capacity,
                                    const char *path, collet_error *err);
