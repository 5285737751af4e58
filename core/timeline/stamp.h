/* SPDX-License-Identifier: Apache-2.0 */
/* Stamps of collet.timing/1 in the work of a queue. */
#pragma once

#include "block.h"

/* A stamp for the time at which the work in `q` so far is done; the caller frees it with block_free.
 * *ticket is the ticket after it. The device has collet.timing/1; no lock of a queue is held.
 * REFUSED, FAILED, NO_MEMORY, DEVICE_LOST: *out is NULL. */
collet_status stamp_take(queue *q, block **out, uint64_t *ticket, collet_error *err);
/* Nanoseconds between two stamps of a device whose tickets have been reached. FAILED, DEVICE_LOST. */
collet_status stamp_elapsed(const block *first, const block *last, int64_t *nanoseconds,
                            collet_error *err);
