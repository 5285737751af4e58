/* SPDX-License-Identifier: Apache-2.0 */
/* names.h - a topology: names and residues of atoms. */
#ifndef ENGINES_TRAJECTORY_FORMATS_NAMES_H
#define ENGINES_TRAJECTORY_FORMATS_NAMES_H

#include "io/source.h"

/* Bytes of a name with its NUL. Surrounding blanks are removed. */
#define TRAJECTORY_ATOM_NAME 16
/* Bytes of an element's symbol with its NUL. */
#define TRAJECTORY_SYMBOL 3

typedef struct trajectory_topology {
    int64_t n_atoms;
    const char *format;                          /* a name of formats.h; NULL: not from a file */
    char *title;                                 /* title of the file, never NULL */
    char (*names)[TRAJECTORY_ATOM_NAME];         /* n_atoms, e.g. "CA" */
    char (*residue_names)[TRAJECTORY_ATOM_NAME]; /* n_atoms, e.g. "ALA" */
    int32_t *residue_ids;                        /* n_atoms, as in the file */
    char (*elements)[TRAJECTORY_SYMBOL]; /* n_atoms, in any case, unchecked, "": unknown; NULL: the
                                            format has none */
    double *masses;                      /* n_atoms, amu; NULL: the format has none */
    int64_t lacking;  /* the first atom without a velocity where others have one; else -1 */
    int64_t left_out; /* atoms in alternative locations, which are not used */
} trajectory_topology;

/* Called by formats. Allocates all arrays of a zeroed topology except elements and masses, copies the title
 * and sets `lacking` to -1; `path` is for messages. COLLET_NO_MEMORY. */
collet_status trajectory_topology_allocate(trajectory_topology *topology, int64_t n_atoms,
                                           const char *title, size_t title_length, const char *path,
                                           collet_error *err);
collet_status trajectory_topology_allocate_elements(trajectory_topology *topology, const char *path,
                                                    collet_error *err);

collet_status trajectory_topology_allocate_masses(trajectory_topology *topology, const char *path,
                                                  collet_error *err);

/* Copies columns of a text without the blanks around them; width < TRAJECTORY_ATOM_NAME. */
void trajectory_topology_copy_name(char name[TRAJECTORY_ATOM_NAME], const char *column,
                                   size_t width);

/* Frees the topology and all its arrays; NULL is allowed. */
void trajectory_topology_free(trajectory_topology *topology);

#endif
