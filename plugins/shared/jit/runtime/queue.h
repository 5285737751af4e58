/* SPDX-License-Identifier: Apache-2.0 */
/* queue.h - tickets and failures of queues, and their slots of the vtable. */
#pragma once

#include <signal.h>

#include "driver.h"

/* Records a failure of the oldest command that is not known to be complete, unless a failure is
 * recorded already. The caller holds the queue's lock. */
void jit_queue_fail(collet_queue *queue, collet_status status, const char *format, ...)
    COLLET_PRINTF(3, 4);
/* Returns the recorded failure, which waits report, or COLLET_OK. */
collet_status jit_queue_check(collet_queue *queue, collet_error *err);
/* Calls `visit` for every queue of the device, under that queue's lock. */
void jit_queues_visit(collet_device *device, void (*visit)(collet_queue *queue));
/* Called by jit_device_close. */
void jit_queues_free(collet_device *device);
/* Waits until `ticket` is complete. */
void jit_queue_await(collet_queue *queue, uint64_t ticket);

/* Signals must reach the program's threads only. All signals are blocked while a driver may start threads, because
 * such threads inherit the mask. */
void jit_signals_block(sigset_t *before);
void jit_signals_restore(const sigset_t *before);

/* Functions for slots of collet_plugin. */
collet_status jit_queue_create(collet_device *device, collet_queue **queue, collet_error *err);
void jit_queue_destroy(collet_device *device, collet_queue *queue);
uint64_t jit_queue_mark(collet_device *device, collet_queue *queue);
collet_status jit_queue_wait(collet_device *device, collet_queue *queue, uint64_t value,
                             int64_t nanoseconds, collet_error *err);
collet_status jit_queue_after(collet_device *device, collet_queue *queue, collet_queue *other,
                              uint64_t value, collet_error *err);
