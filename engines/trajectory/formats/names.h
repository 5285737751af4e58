/* SPDX-License-Identifier: Apache-2.0 */
/* names.h - a topology: names and residues of atoms. */
#ifndef ENGINES_TRAJECTORY_FORMATS_NAMES_H
#define ENGINES_TRAJECTORY_FORMATS_NAMES_H

#include "io/source.h"

/* Bytes of a name with its NUL; blanks around it are removed. */
#define TRAJECTORY_ATOM_NAME 16

typedef struct trajectory_topology {
    int64_t n_atoms;
    char *title;                                 /* first line of the file, never NULL */
    char (*names)[TRAJECTORY_ATOM_NAME];         /* n_atoms, e.g. "CA" */
    char (*residue_names)[TRAJECTORY_ATOM_NAME]; /* n_atoms, e.g. "ALA" */
    int32_t *residue_ids;                        /* n_atoms, as written */
    int64_t lacking; /* the first atom without a velocity where others have one; else -1 */
} trajectory_topology;

/* Frees the topology and all its arrays; NULL is allowed. */
void trajectory_topology_free(trajectory_topology *topology);

#endif
