/* SPDX-License-Identifier: Apache-2.0 */
/* elements.h - the atomic weights of the elements, and the elements of atoms by name. */
#ifndef ENGINES_TRAJECTORY_ATOMS_ELEMENTS_H
#define ENGINES_TRAJECTORY_ATOMS_ELEMENTS_H

#include <stddef.h>

typedef struct trajectory_element {
    char symbol[3];
    double mass; /* amu */
} trajectory_element;

/*
 * The element of that symbol, in any mix of cases; NULL when there is none or it has no standard
 * atomic weight (technetium, the short-lived ones). D is deuterium.
 */
const trajectory_element *trajectory_element_find(const char *symbol, size_t length);

/*
 * The element of an atom of this name in this residue, by the conventions of force fields and the
 * PDB:
 * - leading digits and trailing digits, charges and primes are not part of the name (1HB, NA+,
 * O5');
 * - a name that is its residue's too is an ion or a single atom (CA in CA is calcium; SOD, CLA and
 *   similar names are too);
 * - a second letter in lower case forms a symbol (Fe, Cl);
 * - outside amino acids and water, CL, BR, FE, ZN and other symbols that start no common name of an
 *   organic atom count;
 * - otherwise the first letter is the symbol (CA is a carbon, HG a hydrogen, OW an oxygen).
 * Virtual sites (MW, LP1, EP, M of a water) are an element of mass 0. NULL: unknown name.
 */
const trajectory_element *trajectory_element_guess(const char *atom, const char *residue);

#endif
