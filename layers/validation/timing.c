/* SPDX-License-Identifier: Apache-2.0 */
/* collet.timing/1
 * Tests: tests/layers/test_validation.c */
#include <collet/extensions.h>

#include <inttypes.h>
#include <stdlib.h>

#include "validation.h"

typedef struct stamp {
    object object;
    device *device;
    collet_stamp *below;
    uint64_t queue, sequence; /* the queue's id, and the number of commands before the stamp */
} stamp;

static const collet_timing_extension *below_of(const call *c)
{
    return c->device->extensions[EXTENSION_TIMING];
}

static void made(call *c, stamp *s, collet_stamp **out)
{
    queue_used(c->queue, NULL);
    pthread_mutex_lock(&c->queue->lock);
    s->sequence = c->queue->sequence;
    pthread_mutex_unlock(&c->queue->lock);
    s->queue = c->queue->object.id;
    s->device = c->device;
    *out = object_add(&s->object, OBJECT_STAMP);
}

static collet_status timing_stamp(collet_device *named, collet_queue *in, collet_stamp **out,
                                  collet_error *err)
{
    call c;
    collet_status status = COLLET_FAILED;
    stamp *s = calloc(1, sizeof *s);
    if (!call_begin(&c, COLLET_EXTENSION_TIMING " stamp", named, err) ||
        !call_own_queue(&c, in, ENQUEUES)) {
        free(s);
        return call_end(&c, status);
    }
    if (!s || !out) {
        call_wrong(&c, LIBCORE, s ? "`stamp` is NULL" : "the layer is out of memory");
        free(s);
        return call_end(&c, status);
    }
    call_enter(&c);
    status = below_of(&c)->stamp(c.device->below, c.queue->below, &s->below, c.below_err);
    status = call_status(&c, status, CONTRACT_STAMP);
    if (status == COLLET_OK && !s->below)
        call_wrong(&c, PLUGIN, "it returned OK and no stamp");
    else if (status == COLLET_OK && c.wrong.status != COLLET_OK)
        below_of(&c)->release(c.device->below, s->below);
    if (status == COLLET_OK && c.wrong.status == COLLET_OK)
        made(&c, s, out);
    else
        free(s);
    return call_end(&c, status);
}

/* A stamp of the device that a wait has reached; NULL after a violation. */
static stamp *passed(call *c, collet_stamp *handle, const char *name)
{
    stamp *s = (stamp *)object_get(handle, OBJECT_STAMP);
    if (!s || s->device != c->device) {
        call_wrong(c, LIBCORE, "%s is %s", name,
                   s ? "a stamp of another device" : object_unknown(handle, OBJECT_STAMP));
        object_put((object *)s);
        return NULL;
    }
    /* If the queue was destroyed, queue_destroy has waited for the stamp. */
    queue *q = (queue *)object_get((void *)(uintptr_t)s->queue, OBJECT_QUEUE);
    int done = 1;
    if (q) {
        pthread_mutex_lock(&q->lock);
        done = s->sequence <= q->done || atomic_load(&c->device->lost);
        pthread_mutex_unlock(&q->lock);
    }
    object_put((object *)q);
    if (done)
        return s;
    call_wrong(c, LIBCORE, "no wait has reached a mark made after %s", name);
    object_put((object *)s);
    return NULL;
}

static collet_status timing_elapsed(collet_device *named, collet_stamp *from, collet_stamp *to,
                                    int64_t *nanoseconds, collet_error *err)
{
    call c;
    collet_status status = COLLET_FAILED;
    stamp *first = NULL, *last = NULL;
    if (!call_begin(&c, COLLET_EXTENSION_TIMING " elapsed", named, err))
        return call_end(&c, status);
    if (!nanoseconds)
        call_wrong(&c, LIBCORE, "`nanoseconds` is NULL");
    else if ((first = passed(&c, from, "`first`")) && (last = passed(&c, to, "`last`"))) {
        c.lost = 0; /* the time of a stamp before the device was lost may be read */
        call_enter(&c);
        status = below_of(&c)->elapsed(c.device->below, first->below, last->below, nanoseconds,
                                       c.below_err);
        status = call_status(&c, status, CONTRACT_REPORT);
        if (status == COLLET_OK && first->queue == last->queue &&
            (last->sequence > first->sequence ? *nanoseconds < 0
             : last == first                  ? *nanoseconds != 0
                                              : *nanoseconds > 0))
            call_wrong(&c, PLUGIN,
                       "it returned %" PRId64 " ns, which contradicts the order of the queue",
                       *nanoseconds);
    }
    object_put((object *)first);
    object_put((object *)last);
    return call_end(&c, status);
}

static void timing_release(collet_device *named, collet_stamp *handle)
{
    call c;
    stamp *s = NULL;
    if (!handle)
        return;
    if (call_begin(&c, COLLET_EXTENSION_TIMING " release", named, NULL) &&
        (s = passed(&c, handle, "the stamp"))) {
        if (!object_remove(&s->object)) {
            call_wrong(&c, LIBCORE, "another call uses the stamp; it is not released");
        } else {
            call_enter(&c);
            below_of(&c)->release(c.device->below, s->below);
            call_left(&c);
        }
    }
    object_put((object *)s);
    call_end(&c, COLLET_OK);
}

const collet_timing_extension validation_timing = {sizeof validation_timing, 0, timing_stamp,
                                                   timing_elapsed, timing_release};
