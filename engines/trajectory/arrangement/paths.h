/* SPDX-License-Identifier: Apache-2.0 */
/*
 * paths.h - moves bodies along paths that do not jump through the periodic box.
 *
 * A body is moved with the molecule of its first atom. This move is not added to positions, but to results (the centre of
 * mass, positions), after the sums over atoms: so it does not cost precision, and results of a later part of a
 * trajectory can be moved again, to the path of the earlier part (collet-merge). Only atoms of a body's other molecules are
 * moved, relative to the first.
 */
#pragma once

#include "images.h"
#include "trajectory/formats/frames.h"

typedef struct trajectory_paths {
    int64_t n_bodies;
    int64_t *offsets; /* n_bodies + 1: body b has the rows offsets[b] to offsets[b + 1] - 1 of a frame */
    int64_t *of;      /* the molecule of each row, as in trajectory_images_create */
    int alone;        /* 1: no body has atoms of several molecules */
} trajectory_paths;

/* `of` and `offsets` are copied. COLLET_NO_MEMORY; then *out is NULL. */
collet_status trajectory_paths_create(const int64_t *of, const int64_t *offsets, int64_t n_bodies,
                                      trajectory_paths **out, collet_error *err);

/* NULL is allowed. */
void trajectory_paths_free(trajectory_paths *paths);

/* Tracks frame i, and sets its `centres` and `moves`. Call it in the order of the frames. lattice NULL: the frame has no
 * box. */
void trajectory_paths_follow(const trajectory_paths *paths, trajectory_images *images,
                             const trajectory_lattice *lattice, trajectory_frames *frames, int64_t i);
