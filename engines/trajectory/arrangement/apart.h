/* SPDX-License-Identifier: Apache-2.0 */
/* apart.h - finds bodies of several molecules that the boundary of the box divides: some molecules are on one side of
 * the box, some on the other side. */
#pragma once

#include "trajectory/atoms/molecules.h"
#include "trajectory/formats/frames.h"

typedef struct trajectory_apart trajectory_apart;

/*
 * Body b of n_bodies has the atoms members[offsets[b]] .. members[offsets[b + 1] - 1] of the topology; row k of a
 * frame is atom members[k]. Waters, ions and other single atoms do not count, and only bodies with at least two other
 * molecules are examined. In bodies with more than 128 such molecules, only proteins and nucleic acids are examined.
 * *out is NULL if there is no such body, or after COLLET_NO_MEMORY.
 */
collet_status trajectory_apart_create(const trajectory_topology *topology, const int64_t *members,
                                      const int64_t *offsets, int64_t n_bodies,
                                      trajectory_apart **out, collet_error *err);

/* NULL is allowed. */
void trajectory_apart_free(trajectory_apart *apart);

/* Returns the atoms whose positions in one frame trajectory_apart_decide needs: *n of them, ascending. The atoms are
 * valid until that call. *n is 0 if all molecules are proteins and nucleic acids, because then nothing is to be
 * decided. */
const int64_t *trajectory_apart_atoms(const trajectory_apart *apart, int64_t *n);

/* Leaves out of all later frames the molecules that fill the box, such as the molecules of a membrane or a solvent.
 * Molecules that touch each other form a set; a set that touches its own image fills the box. Also leaves out the
 * molecules that touch no other molecule of their body, if the body has several such molecules and more than two
 * molecules in all. Molecules touch where atoms are at most 0.6 nm apart. Proteins and nucleic acids always stay.
 * `frame` has the atoms of trajectory_apart_atoms. If `frame` is NULL or has no box, all molecules except proteins
 * and nucleic acids are left out. COLLET_NO_MEMORY. */
collet_status trajectory_apart_decide(trajectory_apart *apart, const trajectory_frames *frame,
                                      collet_error *err);

/* Returns the first body in frame i that the box's boundary divides; -1 if there is no such body, or no box. The
 * molecules of each body are joined by a minimum spanning tree of the distances of their centres in the periodic box.
 * The body is divided if an edge of the tree goes through the boundary. If two centres are nearer to each other through
 * the boundary, the distances of the molecules' nearest atoms decide if the edge goes through it. One thread at a time.
 */
int64_t trajectory_apart_find(trajectory_apart *apart, const trajectory_frames *frames, int64_t i);
