/* SPDX-License-Identifier: Apache-2.0 */
/* queue.h - tickets and failures of queues, and their slots of the vtable. */
#ifndef COLLET_JIT_RUNTIME_QUEUE_H
#define COLLET_JIT_RUNTIME_QUEUE_H

#include "base.h"

/* Under the queue's lock: keeps the failure for the next wait, unless there is one. */
void jit_queue_fail(collet_queue *queue, collet_status status, const char *format, ...)
    COLLET_PRINTF(3, 4);
/* What is known to have failed since the last wait, which still reports it. */
collet_status jit_queue_check(collet_queue *queue, collet_error *err);
/* Calls `visit` for every queue there is, under its lock. */
void jit_queues_visit(collet_device *device, void (*visit)(collet_queue *queue));
/* At jit_device_close. */
void jit_queues_free(collet_device *device);

/* Slots. */
collet_status jit_queue_create(collet_device *device, collet_queue **queue, collet_error *err);
void jit_queue_destroy(collet_device *device, collet_queue *queue);
collet_status jit_queue_wait(collet_device *device, collet_queue *queue, collet_error *err);

/* ---- What a backend implements --------------------------------------------------------------- */

/* The driver's part of a zeroed queue; jit_backend_queue_close follows whatever comes of it. */
collet_status jit_backend_queue_open(collet_queue *queue, collet_error *err);
/* Everything in it has passed. */
void jit_backend_queue_close(collet_queue *queue);

/* Under the queue's lock. */
/* Finds out which tickets have passed, and what failed. */
void jit_queue_retire(collet_queue *queue);
/* Waits at least until `ticket` has passed. */
void jit_queue_reach(collet_queue *queue, uint64_t ticket);
/* Waits for everything; a device that answers no more is lost then. */
void jit_queue_drain(collet_queue *queue);
/* Gives back what is kept for the queue to be fast; may wait for everything. */
void jit_queue_trim(collet_queue *queue);

#endif
