/* SPDX-License-Identifier: Apache-2.0 */
/* Waits for queues, order between them, and copies between devices. */
#pragma once

#include "queue.h"

/* Like use_reach, for all work submitted so far. */
void queue_wait(queue *q);
/* Waits, and returns the first failure of work with the tickets (after, upto], even if another thread's wait found
 * this failure. FAILED, DEVICE_LOST. */
collet_status queue_finish(queue *q, uint64_t after, uint64_t upto, collet_error *err);
/* Makes `q` (NULL: the host) start its next work only after `ticket` of `other`; waits on the host
 * if the device cannot order the two. `needed`: the result will be read, so a known failure of
 * `ticket` is returned; otherwise only the order matters. Any thread. FAILED, DEVICE_LOST. */
collet_status queue_after(queue *q, queue *other, uint64_t ticket, int needed, collet_error *err);
/*
 * Copies `bytes` (> 0) bytes from the buffer `source` on `from` to `target` on q's device, after the
 * work `written`. q's device itself copies. Sets *read to the use of the source and *ticket to q's
 * ticket, unless the call fails before anything is enqueued. REFUSED without text if the devices
 * cannot copy directly or `from` has failed: the copy over the host then works or reports the
 * reason. FAILED, DEVICE_LOST (q's device is lost). */
collet_status queue_copy_between(queue *q, collet_buffer *target, device *from,
                                 collet_buffer *source, uint64_t bytes, const use *written,
                                 use *read, uint64_t *ticket, collet_error *err);
/* Called at the end of the runtime: waits for the device's queues and destroys them. */
void queues_destroy(device *d);
