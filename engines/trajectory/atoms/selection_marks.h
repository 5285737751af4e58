/* SPDX-License-Identifier: Apache-2.0 */
/* selection_marks.h - finds the atoms of a topology that a single test of a selection selects. */
#pragma once

#include "groups.h"
#include "selection_steps.h"
#include "trajectory/formats/names.h"

/* Sets marks[i] to 1 for each atom i that the test selects, else to 0. COLLET_INVALID for a group
 * that does not exist, or a property that the topology lacks; COLLET_NO_MEMORY. */
collet_status selection_mark(const trajectory_selection *selection, const selection_step *test,
                             const trajectory_topology *topology, const trajectory_groups *groups,
                             uint8_t *marks, collet_error *err);

/* Sets labels[i] of each atom i to the number of its residue, molecule, chain or segment: 0 .. *count - 1.
 * COLLET_INVALID for a property that the topology lacks; COLLET_NO_MEMORY. */
collet_status selection_label(selection_kind kind, const trajectory_topology *topology,
                              int64_t *labels, int64_t *count, collet_error *err);

/* Writes the end of a message about a selection without atoms. For the first step whose names no atom has, it lists
 * the names or residue names that exist. "" if there is no such step. */
void trajectory_selection_hint(const trajectory_selection *s, const trajectory_topology *topology,
                               char *text, size_t size);
