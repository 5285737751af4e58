/* SPDX-License-Identifier: Apache-2.0 */
/*
 * groups.h - named groups of atoms, from a .ndx file of GROMACS.
 *
 * "[ name ]" begins a group; numbers of atoms follow, counted from 1. Text after ';' is a comment.
 */
#pragma once

#include <collet/collet.h>

typedef struct trajectory_groups trajectory_groups;

/* Reads the groups of a topology of n_atoms atoms into *out, which the caller frees. COLLET_IO,
 * COLLET_FORMAT with "path:line:" for text that is neither a name nor the number of an atom, and for
 * a file without groups; COLLET_NO_MEMORY. On an error *out is NULL. */
collet_status trajectory_groups_read(const char *path, int64_t n_atoms, trajectory_groups **out,
                                     collet_error *err);

/* Sets members[i] to 1 for each atom i of the groups whose names the pattern of `length` bytes
 * describes (pattern.h). Returns the number of these groups. */
int64_t trajectory_groups_mark(const trajectory_groups *groups, const char *pattern, size_t length,
                               uint8_t *members);

/* Returns the name of group i, counted from 0; NULL beyond the last. Sets *atoms to its atoms in the order of the file,
 * perhaps with repetitions, and *n to their number. */
const char *trajectory_groups_at(const trajectory_groups *groups, size_t i, const int64_t **atoms,
                                 int64_t *n);

/* Returns COLLET_INVALID for a pattern that matches no group. The text begins with `what` and lists the names of all
 * groups. */
collet_status trajectory_groups_missing(const trajectory_groups *groups, const char *what,
                                        const char *pattern, size_t length, collet_error *err);

/* NULL is allowed. */
void trajectory_groups_free(trajectory_groups *groups);
