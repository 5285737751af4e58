/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drift.h - removes the motion of the system as a whole from frames: the motion of its centre of mass, its rotation,
 * or both.
 *
 * Velocities are changed frame by frame, on any thread. Positions are moved back by the displacement of the centre of
 * mass since the first frame, so the frames must come in order.
 */
#pragma once

#include "trajectory/atoms/molecules.h"
#include "trajectory/formats/frames.h"

typedef struct trajectory_drift trajectory_drift;

typedef struct trajectory_drift_setup {
    uint32_t removed;     /* COLLET_TRAJECTORY_DRIFT_*, not KEEP */
    uint32_t pbc;         /* COLLET_TRAJECTORY_PBC_* */
    const int64_t *rows;  /* n rows of a frame that is read: the atoms of the system; copied */
    const double *masses; /* n, amu, above 0; copied */
    int64_t n;
} trajectory_drift_setup;

/* COLLET_NO_MEMORY. On an error *out is NULL. */
collet_status trajectory_drift_create(const trajectory_drift_setup *setup, trajectory_drift **out,
                                      collet_error *err);

/* NULL is allowed. */
void trajectory_drift_free(trajectory_drift *drift);

/*
 * Prepares for paths without jumps. `molecules` are the molecules of the atoms that are read. If left[m] is not 0,
 * molecule m is not made whole, and its atoms are followed one by one. If `left` is NULL, each molecule is made whole.
 * A later call replaces an earlier call. COLLET_NO_MEMORY.
 */
collet_status trajectory_drift_learn(trajectory_drift *drift, const trajectory_molecules *molecules,
                                     const uint8_t *left, collet_error *err);

/* Returns how many rows trajectory_frames_add_system must allocate; 0: positions are not moved. */
int64_t trajectory_drift_rows(const trajectory_drift *drift);

/*
 * Frame k of `out` has atoms of frame i of `read`; both may be the same batch. Computes the motion of the system in
 * `read`, subtracts it from the velocities of `out`, if there are any, and stores the system's position. Any thread.
 */
void trajectory_drift_remove(const trajectory_drift *drift, const trajectory_frames *read,
                             int64_t i, trajectory_frames *out, int64_t k);

/* 1 if positions of a frame are moved, with or without a box. In a box molecules jump unless they are followed
 * (NOJUMP). If molecules jump, the displacement of the system is not known, and positions stay. */
int trajectory_drift_moves(uint32_t removed, uint32_t pbc, int has_box);

/* Moves the positions of the next frames. Call it in the order of the frames. */
void trajectory_drift_follow(trajectory_drift *drift, trajectory_frames *frames);

/* Returns the number of steps beyond TRAJECTORY_FAR (path.h). If there are some, sets *frame and *row to the frame and
 * the atom of the first such step. */
int64_t trajectory_drift_far(const trajectory_drift *drift, int64_t *frame, int64_t *row);
