/* SPDX-License-Identifier: Apache-2.0 */
/*
 * selection.h - selects atoms by an expression.
 *
 *     all, none            every atom, no atom
 *     protein              atoms of amino acids and their caps (residues.h)
 *     backbone             N, CA, C and O of the protein
 *     resname PATTERN...   residue name; * stands for any characters, ? for one
 *     name PATTERN...      atom name, likewise
 *     resid RANGE...       residue number as the topology writes it: 7, or 3:9 with both ends
 *     index RANGE...       position in the topology counted from 0, both ends included
 *     bynum RANGE...       position in the topology counted from 1, both ends included
 *     group PATTERN...     atoms of the groups of a .ndx file (groups.h)
 *     not S   S and S   S or S   ( S )
 *
 * "not" binds tighter than "and", "and" tighter than "or". Keywords are lower case; names are
 * case-sensitive. A list ends at a keyword or a parenthesis; a group whose
 * name is a keyword is named with a wildcard.
 */
#ifndef ENGINES_TRAJECTORY_ATOMS_SELECTION_H
#define ENGINES_TRAJECTORY_ATOMS_SELECTION_H

#include "groups.h"
#include "trajectory/formats/names.h"

typedef struct trajectory_selection trajectory_selection;

/*
 * Reads `text` into *out, which the caller frees; the text is not kept. COLLET_INVALID with what is
 * wrong, its column and a second and third line that point at it; COLLET_NO_MEMORY. On an error
 * *out is NULL. Time and memory grow with the length of the text; the stack used is bounded.
 */
collet_status trajectory_selection_compile(const char *text, trajectory_selection **out,
                                           collet_error *err);

/*
 * The indices of the atoms that are selected, ascending, in *indices (the caller frees; not NULL)
 * and their number in *n, which may be 0. `groups` may be NULL. COLLET_INVALID for a group that does
 * not exist; COLLET_NO_MEMORY.
 */
collet_status trajectory_selection_apply(const trajectory_selection *selection,
                                         const trajectory_topology *topology,
                                         const trajectory_groups *groups, int64_t **indices,
                                         int64_t *n, collet_error *err);

/* NULL is allowed. */
void trajectory_selection_free(trajectory_selection *selection);

#endif
