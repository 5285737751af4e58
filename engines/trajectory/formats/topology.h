/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topology.h - names and residues of atoms, from a file of any format that has them.
 *
 * A file with several frames gives the topology of its first one.
 */
#ifndef ENGINES_TRAJECTORY_FORMATS_TOPOLOGY_H
#define ENGINES_TRAJECTORY_FORMATS_TOPOLOGY_H

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

/*
 * Reads `path` into *out, which the caller frees. COLLET_IO when the file cannot be read,
 * COLLET_FORMAT (with "path:line:" in the text) when it is not a topology, COLLET_NO_MEMORY,
 * COLLET_CANCELLED when `poll` (NULL: none), which is asked for every 256 KiB, stops it. On
 * an error *out is NULL. Any thread.
 */
collet_status trajectory_topology_read(const char *path, const io_poll *poll,
                                       trajectory_topology **out, collet_error *err);

/* Frees the topology and all its arrays; NULL is allowed. */
void trajectory_topology_free(trajectory_topology *topology);

#endif
