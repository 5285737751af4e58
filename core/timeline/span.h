/* SPDX-License-Identifier: Apache-2.0 */
/*
 * span - the time that a kernel or a transfer took on a device, for the trace (util/trace.h).
 *
 * If a queue has collet.timing/1, the times are the device's. These times are read after a wait that shows that the
 * work is done. So tracing itself waits only once for each device, at its first work, to compare the device's clock
 * with the host's. For other queues it waits after each command and reads the host's clock, as collet_timestamp_take
 * does.
 */
#pragma once

#include "block.h"
#include "util/trace.h"

typedef struct span {
    int64_t begin; /* 0: nothing is traced */
    block *first;  /* stamp, or NULL */
} span;

/* The slow parts of the functions below. */
void span_start(span *s, queue *q);
void span_end(span *s, queue *q, const char *category, const char *name, const char *detail,
              collet_status status);
void span_bytes(span *s, queue *q, const char *name, uint64_t bytes, collet_status status);
void spans_read(device *d, int all);

/* Encloses a command in `q`; no lock of a queue is held. */
static inline void span_begin(span *s, queue *q)
{
    s->begin = 0;
    if (q->device->owner->runtime->trace)
        span_start(s, q);
}
static inline void span_transfer(span *s, queue *q, const char *name, uint64_t bytes,
                                 collet_status status)
{
    if (s->begin)
        span_bytes(s, q, name, bytes, status);
}
/* Ends a span without a command. */
void span_drop(span *s);
/* A transfer that began at `begin` and has ended. */
void span_transfer_waited(queue *q, int64_t begin, const char *name, uint64_t bytes);

/* Writes the spans of work that is known to be done. */
static inline void spans_collect(device *d)
{
    if (d->owner->runtime->trace)
        spans_read(d, 0);
}
/* Waits for the device's queues and writes the rest; before queues_destroy. */
void spans_destroy(device *d);

/* A stamp for the time at which the work in `q` so far is done; the caller frees it with block_free.
 * *ticket becomes the ticket after the stamp. The device has collet.timing/1; no lock of a queue is held.
 * REFUSED, FAILED, NO_MEMORY, DEVICE_LOST: *out is NULL. */
collet_status stamp_take(queue *q, block **out, uint64_t *ticket, collet_error *err);
/* Nanoseconds between two stamps of a device whose tickets have been reached. FAILED, DEVICE_LOST. */
collet_status stamp_elapsed(const block *first, const block *last, int64_t *nanoseconds,
                            collet_error *err);
