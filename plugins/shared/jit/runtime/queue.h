/* SPDX-License-Identifier: Apache-2.0 */
/* queue.h - tickets and failures of queues, and their slots of the vtable. */
#ifndef COLLET_JIT_RUNTIME_QUEUE_H
#define COLLET_JIT_RUNTIME_QUEUE_H

#include <signal.h>

#include "base.h"

/* Under the queue's lock: records the failure of the oldest command that is not known to be
 * complete, unless one is recorded already. */
void jit_queue_fail(collet_queue *queue, collet_status status, const char *format, ...)
    COLLET_PRINTF(3, 4);
/* The failure recorded, which waits report. */
collet_status jit_queue_check(collet_queue *queue, collet_error *err);
/* Calls `visit` for every queue of the device, under that queue's lock. */
void jit_queues_visit(collet_device *device, void (*visit)(collet_queue *queue));
/* At jit_device_close. */
void jit_queues_free(collet_device *device);
/* Waits until `ticket` is complete. */
void jit_queue_await(collet_queue *queue, uint64_t ticket);

/* Slots. */
/* Signals are for the program's threads: all are blocked while a driver may start its own, which
 * inherit the mask. */
void jit_signals_block(sigset_t *before);
void jit_signals_restore(const sigset_t *before);

collet_status jit_queue_create(collet_device *device, collet_queue **queue, collet_error *err);
void jit_queue_destroy(collet_device *device, collet_queue *queue);
uint64_t jit_queue_mark(collet_device *device, collet_queue *queue);
collet_status jit_queue_wait(collet_device *device, collet_queue *queue, uint64_t value,
                             int64_t nanoseconds, collet_error *err);
collet_status jit_queue_after(collet_device *device, collet_queue *queue, collet_queue *other,
                              uint64_t value, collet_error *err);

/* ---- What a backend implements --------------------------------------------------------------- */

/* Initialises the driver's part of a zeroed queue; jit_backend_queue_close follows even on failure.
 */
collet_status jit_backend_queue_open(collet_queue *queue, collet_error *err);
/* All its commands are complete. */
void jit_backend_queue_close(collet_queue *queue);

/* Commands enqueued in `queue` from now on start after `ticket` of `other`, which may be a queue of
 * another device. */
collet_status jit_queue_order(collet_queue *queue, collet_queue *other, uint64_t ticket,
                              collet_error *err);

/* Without locks: waits until `ticket` is complete. */
void jit_queue_block(collet_queue *queue, uint64_t ticket);

/* Under the queue's lock. */
/* Prepares for waits for the last ticket, so that they need not wait for later ones. */
void jit_queue_marked(collet_queue *queue);
/* Updates which tickets are complete, and records failures. */
void jit_queue_retire(collet_queue *queue);
/* Waits at least until `ticket` is complete. */
void jit_queue_reach(collet_queue *queue, uint64_t ticket);
/* Waits for all commands; a device that stopped responding is then lost. */
void jit_queue_drain(collet_queue *queue);
/* Releases what the queue keeps for speed; may wait for all commands. */
void jit_queue_trim(collet_queue *queue);

#endif
