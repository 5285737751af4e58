/* SPDX-License-Identifier: Apache-2.0 */
/* run.h - computes the rows of a trajectory: reads frames, runs kernels, emits rows. */
#pragma once

#include "state.h"

/* An io_poll for a trajectory: calls its progress callback, which may stop the work. */
int32_t trajectory_run_ask(void *trajectory);

/* Notes facts about the frames of a batch before they are computed; batches must come in order. */
collet_status trajectory_run_read(void *trajectory, const trajectory_frames *frames,
                                  collet_error *err);

/* Returns the set of buffers (outputs.h) that the chosen outputs need, and the largest number of rows that a buffer
 * has in a frame. */
uint64_t trajectory_run_buffers(const collet_trajectory *x);
int64_t trajectory_run_rows(const collet_trajectory *x);

/* Seconds of the monotonic clock. */
double trajectory_clock(void);

/* Creates runtime and context unless given, and starts reading. Rows go to `receive` on
 * another thread, at most `rows` at a time unless settings.batch_frames is larger, until the work
 * is done or trajectory_run_stop has returned. Call trajectory_run_stop also after an error. */
collet_status trajectory_run_start(collet_trajectory *x, int64_t rows, trajectory_rows_fn receive,
                                   void *user, collet_error *err);

/* Does the same for a shard, but emits the sums over atoms instead of results. `frames` is called on the caller's
 * thread, `sums` on another thread. */
collet_status trajectory_run_sums(collet_trajectory *x, trajectory_emit_fn sums,
                                  trajectory_take_frames frames, void *user, collet_error *err);

/* Computes one batch and reports progress. At the end of the trajectory all rows are emitted,
 * warnings are set and x->stage is TRAJECTORY_DONE. COLLET_CANCELLED when the callback cancels. */
collet_status trajectory_run_step(collet_trajectory *x, collet_error *err);

/* Call it after TRAJECTORY_DONE: frees the memory that only the computation needs, and formats the meta file. */
collet_status trajectory_run_end(collet_trajectory *x, collet_error *err);

/* Ends the work: this and every later call for the trajectory return `status` with x->error. */
collet_status trajectory_run_failed(collet_trajectory *x, collet_status status, collet_error *err);

/* Waits for threads and kernels that are running, and frees the memory that only the computation needs. */
void trajectory_run_stop(collet_trajectory *x);
