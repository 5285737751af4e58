/* SPDX-License-Identifier: Apache-2.0 */
/* apart.h - finds bodies of several chains between which the boundary of the box lies. */
#ifndef ENGINES_TRAJECTORY_ARRANGEMENT_APART_H
#define ENGINES_TRAJECTORY_ARRANGEMENT_APART_H

#include "trajectory/atoms/molecules.h"
#include "trajectory/formats/frames.h"

typedef struct trajectory_apart trajectory_apart;

/*
 * For n_bodies bodies of `members`, atoms of the topology, as rows `offsets`[b] to [b + 1] - 1 of a frame.
 * Only molecules of proteins and nucleic acids count, and bodies that have two of them. COLLET_NO_MEMORY;
 * *out is NULL then, and also where no body has two.
 */
collet_status trajectory_apart_create(const trajectory_topology *topology, const int64_t *members,
                                      const int64_t *offsets, int64_t n_bodies,
                                      trajectory_apart **out, collet_error *err);

/* NULL is allowed. */
void trajectory_apart_free(trajectory_apart *apart);

/* The first body in frame i in which the centre of a molecule is nearer to another image of the first
 * one's, and of the one's before it, than to theirs; -1: none, or there is no box. */
int64_t trajectory_apart_find(const trajectory_apart *apart, const trajectory_frames *frames,
                              int64_t i);

#endif
