/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topology.h - names and residues of atoms, from a .gro file.
 *
 * A file with several frames gives the topology of its first one. Residue numbers have five digits
 * and wrap to 0 after 99999; they are kept as written. Atom numbers are ignored: an atom's index is
 * its position in the file. Positions, velocities and the box are checked, not kept.
 */
#ifndef COLLET_IO_TOPOLOGY_H
#define COLLET_IO_TOPOLOGY_H

#include "io/source.h"

/* Bytes of a name with its NUL; a .gro file has five columns for one; blanks are removed. */
#define COLLET_ATOM_NAME 16

typedef struct collet_topology {
    int64_t n_atoms;
    char *title;                             /* first line of the file, never NULL */
    char (*names)[COLLET_ATOM_NAME];         /* n_atoms, e.g. "CA" */
    char (*residue_names)[COLLET_ATOM_NAME]; /* n_atoms, e.g. "ALA" */
    int32_t *residue_ids;                    /* n_atoms, as written */
    int64_t lacking; /* the first atom without a velocity where others have one; else -1 */
} collet_topology;

/*
 * Reads `path` into *out, which the caller frees. COLLET_IO when the file cannot be read,
 * COLLET_FORMAT (with "path:line:" in the text) when it is not a .gro file, COLLET_NO_MEMORY,
 * COLLET_CANCELLED when `poll` (NULL: none), which is asked for every 256 KiB, stops it. On
 * an error *out is NULL. Any thread.
 */
collet_status collet_topology_read(const char *path, const collet_poll *poll, collet_topology **out,
                                   collet_error *err);

/* Frees the topology and all its arrays; NULL is allowed. */
void collet_topology_free(collet_topology *topology);

#endif
