/* SPDX-License-Identifier: Apache-2.0 */
/* run.h - computes the rows of a trajectory: reads frames, runs kernels, emits rows. */
#ifndef ENGINES_TRAJECTORY_RUN_H
#define ENGINES_TRAJECTORY_RUN_H

#include "state.h"

/* An io_poll of a trajectory: asks its progress callback whether to stop. */
int32_t trajectory_run_ask(void *trajectory);

/* Takes the frames of a batch of this trajectory, in order, before they are computed. */
collet_status trajectory_run_read(void *trajectory, const trajectory_frames *frames,
                                  collet_error *err);

/* The buffers (outputs.h) that the chosen outputs need, and the most rows that one has in a frame. */
uint64_t trajectory_run_buffers(const collet_trajectory *x);
int64_t trajectory_run_rows(const collet_trajectory *x);

/* Seconds of the monotonic clock. */
double trajectory_clock(void);

/*
 * Creates runtime and context unless given, and starts reading. Rows go to `receive` on
 * another thread, at most `rows` at a time unless settings.batch_frames is larger, until the work
 * is done or trajectory_run_stop has returned. On an error too, trajectory_run_stop must be called.
 */
collet_status trajectory_run_start(collet_trajectory *x, int64_t rows, trajectory_rows_fn receive,
                                   void *user, collet_error *err);

/* The same for the sums over atoms of a shard, in place of results: `frames` is called on this
 * thread, `sums` on another. */
collet_status trajectory_run_sums(collet_trajectory *x, trajectory_emit_fn sums,
                                  trajectory_take_frames frames, void *user, collet_error *err);

/*
 * Computes one batch and reports progress. At the end of the trajectory all rows are emitted,
 * warnings are set and x->stage is TRAJECTORY_DONE. COLLET_CANCELLED when the callback cancels.
 */
collet_status trajectory_run_step(collet_trajectory *x, collet_error *err);

/* After TRAJECTORY_DONE: frees what only the work needs, and formats the meta file. */
collet_status trajectory_run_end(collet_trajectory *x, collet_error *err);

/* Ends the work: this and every later call return `status` with x->error. */
collet_status trajectory_run_failed(collet_trajectory *x, collet_status status, collet_error *err);

/* Waits for what is under way and frees what only the work needs. */
void trajectory_run_stop(collet_trajectory *x);

#endif
