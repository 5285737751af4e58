/* SPDX-License-Identifier: Apache-2.0 */
/* masses.h - the masses of a topology's atoms, in amu: from a file or by the atoms' elements. */
#ifndef ENGINES_TRAJECTORY_ATOMS_MASSES_H
#define ENGINES_TRAJECTORY_ATOMS_MASSES_H

#include "trajectory/formats/names.h"

/*
 * Reads one mass a line, in the order of the topology's atoms, into `masses` (n_atoms). Blank lines
 * and text after '#' or ';' are ignored. COLLET_IO, COLLET_FORMAT with "path:line:" for text that
 * is not a number, negative or not finite, and when the number of masses differs from the number of
 * atoms.
 */
collet_status trajectory_masses_read(const char *path, const trajectory_topology *topology,
                                     double *masses, collet_error *err);

/*
 * The standard atomic weights of the topology's elements. Where it has none or an unknown one, the
 * element is that which the names mean (elements.h), virtual sites 0; *guessed is the number of
 * such atoms. COLLET_FORMAT names the first atom whose element is unknown.
 */
collet_status trajectory_masses_guess(const trajectory_topology *topology, double *masses,
                                      int64_t *guessed, collet_error *err);

#endif
