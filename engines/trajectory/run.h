/* SPDX-License-Identifier: Apache-2.0 */
/* run.h - the work of an extraction: frames in, rows out. */
#ifndef COLLET_EXTRACT_RUN_H
#define COLLET_EXTRACT_RUN_H

#include "state.h"

/* A collet_poll of an extraction: asks its progress callback whether to stop. */
int32_t extract_run_ask(void *extraction);

/* Seconds of the monotonic clock. */
double extract_clock(void);

/*
 * Creates runtime and context unless given, and starts reading. Rows go to `receive` on
 * another thread, at most `rows` at a time unless settings.batch_frames is larger, until the work
 * is done or extract_run_stop has returned. On an error too, extract_run_stop must be called.
 */
collet_status extract_run_start(collet_extraction *x, int64_t rows, extract_rows_fn receive,
                                void *user, collet_error *err);

/*
 * Computes one batch and reports progress. At the end of the trajectory all rows are emitted,
 * warnings are set and x->stage is EXTRACT_DONE. COLLET_CANCELLED when the callback cancels.
 */
collet_status extract_run_step(collet_extraction *x, collet_error *err);

/* After EXTRACT_DONE: frees what only the work needs, and formats the meta file. */
collet_status extract_run_end(collet_extraction *x, collet_error *err);

/* Ends the work for good: returns `status` and x->error, as every later call does. */
collet_status extract_run_failed(collet_extraction *x, collet_status status, collet_error *err);

/* Waits for what is under way and frees what only the work needs. */
void extract_run_stop(collet_extraction *x);

#endif
