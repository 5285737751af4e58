/* SPDX-License-Identifier: Apache-2.0 */
/* worker.h - a thread that runs one task at a time. */
#pragma once

#include <collet/collet.h>

typedef struct trajectory_worker trajectory_worker;

/* Called on the worker's thread. */
typedef collet_status (*trajectory_work_fn)(void *user, collet_error *err);

/* Starts an idle thread. COLLET_NO_MEMORY, COLLET_FAILED; *out is then NULL. Only the thread that
 * called trajectory_worker_start may call the functions below. */
collet_status trajectory_worker_start(trajectory_work_fn work, void *user, trajectory_worker **out,
                                      collet_error *err);

/* Waits until the work is done, and returns the status and the error of the work. Each call until the next `go`
 * returns the same result. Before the first `go` returns COLLET_OK. What the work wrote is then visible to the
 * caller. */
collet_status trajectory_worker_wait(trajectory_worker *worker, collet_error *err);

/* Begins the work. No work may be under way. */
void trajectory_worker_go(trajectory_worker *worker);

/* Waits for the work, ends the thread and frees the worker; NULL is allowed. */
void trajectory_worker_stop(trajectory_worker *worker);
