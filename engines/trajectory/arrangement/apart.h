/* SPDX-License-Identifier: Apache-2.0 */
/* apart.h - finds bodies of several chains between which the boundary of the box lies. */
#ifndef ENGINES_TRAJECTORY_ARRANGEMENT_APART_H
#define ENGINES_TRAJECTORY_ARRANGEMENT_APART_H

#include "trajectory/atoms/molecules.h"
#include "trajectory/formats/frames.h"

typedef struct trajectory_apart trajectory_apart;

/*
 * Body b of n_bodies has the atoms members[offsets[b]] to members[offsets[b + 1] - 1] of the topology, in
 * these rows of a frame. Only molecules of proteins and nucleic acids count, and only bodies with at least
 * two such molecules. If there is no such body, *out is NULL. COLLET_NO_MEMORY; *out is then NULL too.
 */
collet_status trajectory_apart_create(const trajectory_topology *topology, const int64_t *members,
                                      const int64_t *offsets, int64_t n_bodies,
                                      trajectory_apart **out, collet_error *err);

/* NULL is allowed. */
void trajectory_apart_free(trajectory_apart *apart);

/* The first body in frame i that the box's boundary divides; -1: none, or there is no box. A body is divided
 * if the centre of a molecule is nearer to another image than to the molecule itself, both of the body's
 * first molecule and of the molecule before it. */
int64_t trajectory_apart_find(const trajectory_apart *apart, const trajectory_frames *frames,
                              int64_t i);

#endif
