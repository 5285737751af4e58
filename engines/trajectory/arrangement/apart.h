/* SPDX-License-Identifier: Apache-2.0 */
/* apart.h - finds bodies of several chains that the boundary of the box divides: some chains lie on one side of the
 * box, some on the other. */
#ifndef ENGINES_TRAJECTORY_ARRANGEMENT_APART_H
#define ENGINES_TRAJECTORY_ARRANGEMENT_APART_H

#include "trajectory/atoms/molecules.h"
#include "trajectory/formats/frames.h"

typedef struct trajectory_apart trajectory_apart;

/*
 * Body b of n_bodies has the atoms members[offsets[b]] .. members[offsets[b + 1] - 1] of the topology; row k of a
 * frame is atom members[k]. Only molecules of proteins and nucleic acids count, and only bodies with at least two
 * such molecules. *out is NULL if there is no such body, or after COLLET_NO_MEMORY.
 */
collet_status trajectory_apart_create(const trajectory_topology *topology, const int64_t *members,
                                      const int64_t *offsets, int64_t n_bodies,
                                      trajectory_apart **out, collet_error *err);

/* NULL is allowed. */
void trajectory_apart_free(trajectory_apart *apart);

/* Returns the first body in frame i that the box's boundary divides; -1 if there is none, or no box. A body is
 * divided if one of its molecules is nearer to a periodic image of another molecule than to that molecule itself,
 * for two others: the body's first molecule and the molecule before it. Distances are between centres. */
int64_t trajectory_apart_find(const trajectory_apart *apart, const trajectory_frames *frames,
                              int64_t i);

#endif
