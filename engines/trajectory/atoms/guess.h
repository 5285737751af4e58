/* SPDX-License-Identifier: Apache-2.0 */
/* guess.h - guesses of an atom's element from its name. */
#pragma once

#include "trajectory/formats/elements.h"

/*
 * The element of an atom of this name in this residue, by the conventions of force fields and the
 * PDB:
 * - leading digits and trailing digits, charges and primes are not part of the name (1HB, NA+,
 * O5');
 * - an atom with the name of its residue is an ion or a single atom: CA in residue CA is calcium. Names
 *   of ions such as SOD and CLA are known, too;
 * - outside amino acids and water, a capital and a small letter are a symbol (Fe, Cl). But in a
 *   residue of more than TRAJECTORY_MANY_ATOMS atoms, if a number follows such letters and the first letter is the
 *   symbol of an organic element (Ca, Na, Co), the atom is of that element (Ca13 of a polymer is a carbon);
 * - outside amino acids and water, CL, BR, FE, ZN and other symbols with which no common name of an
 *   organic atom begins are symbols;
 * - otherwise the first letter is the symbol (CA is a carbon, HG a hydrogen, OW an oxygen).
 * A virtual site (MW, LP1, EP, the M of a water) gives an element of mass 0. NULL: unknown name.
 * *doubtful becomes 1 for a metal in a residue of many atoms, and for a name in such a residue that could be
 * a metal.
 */
#define TRAJECTORY_MANY_ATOMS 8
const trajectory_element *trajectory_element_guess(const char *atom, const char *residue,
                                                   int64_t residue_atoms, int *doubtful);

/* 1 if an atom that is alone in its residue is a metal. `symbol`: the atom's element; if `symbol` is "", the names
 * decide. */
int trajectory_element_is_metal(const char *atom, const char *residue, const char *symbol);
