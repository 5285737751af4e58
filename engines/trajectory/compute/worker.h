/* SPDX-License-Identifier: Apache-2.0 */
/* worker.h - a thread that runs one task at a time. */
#ifndef COLLET_EXTRACT_WORKER_H
#define COLLET_EXTRACT_WORKER_H

#include <collet/collet.h>

typedef struct extract_worker extract_worker;

/* Called on the worker's thread. */
typedef collet_status (*extract_work_fn)(void *user, collet_error *err);

/* Starts an idle thread. COLLET_NO_MEMORY, COLLET_FAILED; *out is then NULL. The functions below
 * are for the thread that calls this one. */
collet_status extract_worker_start(extract_work_fn work, void *user, extract_worker **out,
                                   collet_error *err);

/* Waits until the work is done. Returns its status and, when it failed, its error; the same again
 * until the next `go`. COLLET_OK before the first. Its writes are then visible here. */
collet_status extract_worker_wait(extract_worker *worker, collet_error *err);

/* Begins the work; it is not under way. */
void extract_worker_go(extract_worker *worker);

/* Waits for the work, ends the thread and frees the worker; NULL is allowed. */
void extract_worker_stop(extract_worker *worker);

#endif
