/* SPDX-License-Identifier: Apache-2.0 */
/*
 * selection.h - selects atoms by an expression.
 *
 *     all, none            every atom, no atom
 *     protein, nucleic     atoms of amino acids and their caps; atoms of nucleotides (residues.h)
 *     water                atoms of water
 *     backbone             N, CA, C and O of the protein; P, its two oxygens, O5', C5', C4', C3' and
 *                          O3' of nucleic acids
 *     resname PATTERN...   residue name; * stands for any characters, ? for one
 *     name PATTERN...      atom name, likewise
 *     chain PATTERN..., segid PATTERN...  likewise; an error if the topology has none
 *     element SYMBOL...    upper or lower case; from the topology, or guessed from the names (guess.h)
 *     resid RANGE...       residue number as the topology writes it: 7, or 3:9, 3-9, 3 to 9 with both
 *                          ends, also negative; with any insertion code. 52A: only with that code
 *     index RANGE...       position in the topology counted from 0, both ends included
 *     bynum RANGE...       position in the topology counted from 1, both ends included
 *     mass > X, charge < X of the topology; also <=, >=, ==, !=
 *     group PATTERN...     atoms of the groups of a .ndx file (groups.h)
 *     not S   S and S   S or S   ( S )   also !, &&, ||
 *     same residue as S    all atoms of each residue with an atom of S; also molecule (molecules.h),
 *                          chain, segid
 *     within D of S        atoms at most D nm from an atom of S, S included, in each frame;
 *                          with a unit: 0.5 nm, 5 A. Distances respect the periodic box (neighbours.h)
 *     exwithin D of S      the same without S
 *
 * "not" binds tighter than "and", "and" tighter than "or". After the operand of "same" and "within", "and"
 * and "or" need parentheses, because programs disagree on their meaning there. Case does not matter in
 * keywords; names are case-sensitive. Quotes, ' or ", are allowed around a name, and needed if the name is
 * a keyword.
 */
#pragma once

#include <collet/collet.h>

typedef struct trajectory_selection trajectory_selection;

/*
 * Reads `text` into *out, which the caller frees; the text is not kept. COLLET_INVALID for a malformed
 * text: the message has the fault and its column, and lines 2 and 3 point at it. COLLET_NO_MEMORY. On an
 * error *out is NULL. Time and memory grow with the length of the text; the stack used is bounded.
 */
collet_status trajectory_selection_compile(const char *text, trajectory_selection **out,
                                           collet_error *err);

/* NULL is allowed. */
void trajectory_selection_free(trajectory_selection *selection);
