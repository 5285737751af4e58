/* SPDX-License-Identifier: Apache-2.0 */
/* Timestamps in a context's work on a device, by collet.timing/1 or by the host's clock.
 * Tests: tests/core/test_timing.c */
#include <stdlib.h>

#include <collet/floating.h>

#include "context.h"
#include "life.h"
#include "timeline/span.h"
#include "util/trace.h"

struct collet_timestamp {
    collet_runtime *runtime;
    device *device;  /* NULL: the host */
    queue *queue;    /* NULL: the host, or a synchronous device */
    uint64_t ticket; /* ticket of the last work before the timestamp in the queue */
    block *stamp;    /* the device's collet_stamp; NULL: `time` is used */
    int64_t time;
};

static collet_status take(collet_context *cx, collet_timestamp *t)
{
    lane *l;
    if (t->device && !t->device->synchronous) {
        collet_status status = context_lane(cx, t->device, &l, context_error(cx));
        if (status != COLLET_OK)
            return status;
        t->queue = l->queue;
        if (t->device->extensions.timing)
            return stamp_take(t->queue, &t->stamp, &t->ticket, context_error(cx));
        t->ticket = atomic_load(&l->queue->submitted);
        use_reach((use){l->queue, t->ticket});
    }
    t->time = trace_now();
    return COLLET_OK;
}

collet_status collet_timestamp_take(collet_context *cx, collet_timestamp **out, const char *name)
{
    PROGRAM_CONTEXT(COLLET_INVALID, cx);
    COLLET_FLOATING_SCOPE;
    static const char what[] = "collet_timestamp_take";
    device *d = NULL;
    collet_status status = context_check(cx);
    if (status == COLLET_OK && !out)
        status = context_fail(cx, COLLET_INVALID, "%s: out is NULL", what);
    if (status == COLLET_OK)
        status = name ? context_device(cx, what, name, &d) : context_first_device(cx, what, &d);
    if (status != COLLET_OK)
        return status;
    collet_timestamp *t = calloc(1, sizeof *t);
    if (!t)
        return context_fail(cx, COLLET_NO_MEMORY, "%s: out of memory", what);
    t->runtime = cx->runtime;
    t->device = d;
    status = take(cx, t);
    if (status != COLLET_OK) {
        free(t);
        return status;
    }
    runtime_retain(t->runtime);
    programs_made("timestamp", t);
    *out = t;
    return COLLET_OK;
}

/* Waits until the timestamp is reached. Fails if the work before it failed, because the time is
 * then meaningless. */
static collet_status reach(collet_context *cx, const collet_timestamp *t)
{
    collet_error why;
    if (!t->queue)
        return COLLET_OK;
    use_reach((use){t->queue, t->ticket});
    collet_status status = queue_failure_of(t->queue, t->ticket, &why);
    return status == COLLET_OK
               ? COLLET_OK
               : context_fail(cx, status,
                              "collet_timestamp_elapsed: work on %s before a timestamp failed: "
                              "%.900s",
                              t->device->name, why.text);
}

static collet_status comparable(collet_context *cx, const collet_timestamp *first,
                                const collet_timestamp *last, const int64_t *nanoseconds)
{
    static const char what[] = "collet_timestamp_elapsed";
    collet_status status = context_check(cx);
    if (status != COLLET_OK)
        return status;
    if (!first || !last || !nanoseconds)
        return context_fail(cx, COLLET_INVALID, "%s: %s is NULL", what,
                            !first  ? "first"
                            : !last ? "last"
                                    : "nanoseconds");
    if (first->runtime != cx->runtime || last->runtime != cx->runtime)
        return context_fail(cx, COLLET_INVALID, "%s: a timestamp belongs to another runtime", what);
    if (first->device != last->device)
        return context_fail(
            cx, COLLET_INVALID,
            "%s: the timestamps are of different devices, %s and %s; take both on one device", what,
            first->device ? first->device->name : "host",
            last->device ? last->device->name : "host");
    return COLLET_OK;
}

collet_status collet_timestamp_elapsed(collet_context *cx, const collet_timestamp *first,
                                       const collet_timestamp *last, int64_t *nanoseconds,
                                       int32_t *clock)
{
    PROGRAM_CONTEXT(COLLET_INVALID, cx, first, last);
    COLLET_FLOATING_SCOPE;
    collet_status status = comparable(cx, first, last, nanoseconds);
    if (status == COLLET_OK)
        status = reach(cx, first);
    if (status == COLLET_OK)
        status = reach(cx, last);
    if (status != COLLET_OK)
        return status;
    int64_t elapsed = last->time - first->time;
    if (first->stamp)
        status = stamp_elapsed(first->stamp, last->stamp, &elapsed, context_error(cx));
    if (status != COLLET_OK)
        return status;
    *nanoseconds = elapsed;
    if (clock)
        *clock = first->stamp ? COLLET_CLOCK_DEVICE : COLLET_CLOCK_HOST;
    return COLLET_OK;
}

void collet_timestamp_destroy(collet_timestamp *t)
{
    PROGRAM_CALL(, NULL, t);
    COLLET_FLOATING_SCOPE;
    if (!t)
        return;
    if (runtime_alive(t->runtime))
        block_free(t->stamp);
    else
        free(t->stamp);
    runtime_release(t->runtime);
    programs_free(t);
}
