/* SPDX-License-Identifier: Apache-2.0 */
/* masses.h - the masses of a topology's atoms, in amu: from a file or by the atoms' elements. */
#pragma once

#include "guess.h"
#include "trajectory/formats/names.h"

/*
 * Reads one mass per line, in the order of the topology's atoms, into `masses` (n_atoms). Blank lines
 * and text after '#' or ';' are ignored. COLLET_IO, COLLET_FORMAT with "path:line:" for text that
 * is not a number, negative or not finite, and when the number of masses differs from the number of
 * atoms. */
collet_status trajectory_masses_read(const char *path, const trajectory_topology *topology,
                                     double *masses, collet_error *err);

/* Numbers of atoms of each element. */
typedef struct trajectory_composition {
    int64_t counts[TRAJECTORY_ELEMENTS]; /* index: as in trajectory_element_at */
    int64_t guessed;                     /* atoms whose element was guessed from their name */
    int64_t doubtful;                    /* atoms that trajectory_element_guess calls doubtful */
    int64_t doubtful_atom;               /* index in the topology of the first doubtful atom */
    const trajectory_element *taken_for; /* the element that was guessed for that atom */
} trajectory_composition;

/* Writes the standard atomic weights of n atoms of the topology, `indices`, to `masses` (n). If the topology has no
 * element, or an unknown element, for an atom, the element is guessed from the names (guess.h). COLLET_FORMAT names
 * the first atom whose element is unknown. */
collet_status trajectory_masses_guess(const trajectory_topology *topology, const int64_t *indices,
                                      int64_t n, double *masses, trajectory_composition *found,
                                      collet_error *err);

/* Returns an array of n_atoms, which the caller frees: the element of each atom of the topology, found as in
 * trajectory_masses_guess, NULL if it cannot be guessed. Returns NULL if out of memory. */
const trajectory_element **trajectory_masses_elements(const trajectory_topology *topology);

/* Returns a text such as "H 142, C 84, virtual sites 3", which the caller frees; NULL: no memory. */
char *trajectory_composition_text(const trajectory_composition *found);
