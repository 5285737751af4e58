/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bodies.h - the bodies of a run: sets of selected atoms whose quantities are computed separately.
 *
 *     NULL              one body: all selected atoms
 *     residue           residues, in the order of the topology
 *     molecule          molecules (molecules.h), in the order of their first selected atoms
 *     segment, chain    segments or chains by name, in the order of their first selected atoms
 *     PATTERN...        groups of a .ndx file (groups.h), in the order of the file
 *
 * Bodies have selected atoms only. Groups may overlap; otherwise each atom belongs to exactly one body.
 */
#pragma once

#include "trajectory/atoms/groups.h"
#include "trajectory/formats/names.h"

typedef struct trajectory_bodies {
    int64_t n;        /* bodies, >= 1 */
    int64_t *offsets; /* n + 1: body b has members[offsets[b]] to members[offsets[b + 1] - 1] */
    int64_t *members; /* atoms of the topology, ascending in each body, at least one in each */
    char **labels;    /* n, such as "SOL 3" or "chain A"; NULL: one body, not divided */
} trajectory_bodies;

/* 1 if `each` needs no groups: NULL, residue, molecule, segment or chain. */
int trajectory_bodies_named(const char *each);

/* Divides the n_selected >= 1 atoms `selected`, ascending; `groups` may be NULL if `each` does not
 * name any. COLLET_INVALID for a topology without segments or chains, for a group that does not
 * exist or has no selected atom; COLLET_NO_MEMORY. On an error nothing is left to free. */
collet_status trajectory_bodies_find(trajectory_bodies *bodies, const char *each,
                                     const trajectory_topology *topology, const char *path,
                                     const trajectory_groups *groups, const int64_t *selected,
                                     int64_t n_selected, collet_error *err);

/* Sets *labels to labels of n atoms, "CA of ALA 3 of chain A". The caller frees each label and the list.
 * COLLET_NO_MEMORY; *labels is then NULL. */
collet_status trajectory_bodies_label_atoms(const trajectory_topology *topology,
                                            const int64_t *atoms, int64_t n, char ***labels,
                                            collet_error *err);

/* Frees the arrays; bodies of zeros are allowed. */
void trajectory_bodies_free(trajectory_bodies *bodies);
