/* SPDX-License-Identifier: Apache-2.0 */
/* collet.record/1. The buffers that recorded calls name are those of each replay. */
#include <collet/extensions.h>

#include <stdlib.h>

#include "validation.h"

typedef struct recording {
    object object;
    device *device;
    collet_recording *below;
    recorded_list uses;
    /* Its last replay: what was enqueued in the queue, up to `sequence`. */
    uint64_t queue, sequence;
} recording;

static const collet_status errors[] = {COLLET_REFUSED, COLLET_FAILED, COLLET_DEVICE_LOST,
                                       COLLET_OK};

static const collet_record_extension *below_of(const call *c)
{
    return c->device->extensions[EXTENSION_RECORD];
}

/* ---- Buffers ----------------------------------------------------------------------------- */

int record_used(queue *q, const buffer *b, int written)
{
    recorded_list *l = &q->recorded;
    for (uint32_t i = 0; i < l->count; i++)
        if (l->buffers[i].buffer == b->handle) {
            l->buffers[i].written |= written;
            return 1;
        }
    recorded *more = realloc(l->buffers, (l->count + 1u) * sizeof *more);
    if (!more)
        return 0;
    l->buffers = more;
    l->buffers[l->count++] = (recorded){b->handle, written};
    return 1;
}

static void clear(recorded_list *l)
{
    free(l->buffers);
    *l = (recorded_list){NULL, 0};
}

/* In place of the handles, the objects; those that were taken, fewer than all after a violation. */
static uint32_t take(call *c, const recording *r, buffer **taken)
{
    uint32_t i = 0;
    for (; i < r->uses.count; i++) {
        const recorded *use = &r->uses.buffers[i];
        taken[i] =
            call_buffer(c, c->device, use->buffer, "a buffer of the recording", use->written);
        if (!taken[i])
            break;
    }
    return i;
}

/* ---- Recording --------------------------------------------------------------------------- */

static collet_status record_begin(collet_device *named, collet_queue *in, collet_error *err)
{
    call c;
    collet_status status = COLLET_FAILED;
    if (call_begin(&c, COLLET_EXTENSION_RECORD " begin", named, err) &&
        call_own_queue(&c, in, ENQUEUES)) {
        call_enter(&c);
        status = below_of(&c)->begin(c.device->below, c.queue->below, c.below_err);
        call_left(&c);
        status = call_status(&c, status, errors);
        c.queue->recording = status == COLLET_OK;
        clear(&c.queue->recorded);
    }
    return call_end(&c, status);
}

/* The recording that is replaced, or released; NULL: none, or a violation. */
static recording *find(call *c, collet_recording *handle)
{
    recording *r = (recording *)object_get(handle, OBJECT_RECORDING);
    if (r && r->device == c->device)
        return r;
    call_wrong(c, LIBCORE, "the recording is %s",
               r ? "another device's" : object_unknown(handle, OBJECT_RECORDING));
    object_put((object *)r);
    return NULL;
}

/* Its handle is unknown from now on. */
static int forget(call *c, recording *r)
{
    if (!object_remove(&r->object)) {
        call_wrong(c, LIBCORE, "another call names the recording; it is not released");
        return 0;
    }
    clear(&r->uses);
    atomic_fetch_sub(&c->device->recordings, 1);
    return 1;
}

/* After an end that succeeded: what was recorded is `below`. */
static void keep(call *c, recording *r, recording *replaced, collet_recording *below,
                 collet_recording **out)
{
    if (!replaced) {
        r->device = c->device;
        *out = object_add(&r->object, OBJECT_RECORDING);
        atomic_fetch_add(&c->device->recordings, 1);
    }
    clear(&r->uses);
    r->uses = c->queue->recorded;
    c->queue->recorded = (recorded_list){NULL, 0};
    r->below = below;
    r->queue = c->queue->object.id;
    r->sequence = 0;
}

static collet_status end_below(call *c, recording *replaced, collet_recording **out)
{
    recording *r = replaced ? replaced : out ? calloc(1, sizeof *r) : NULL;
    collet_recording *below = replaced ? replaced->below : NULL;
    call_enter(c);
    collet_status status =
        below_of(c)->end(c->device->below, c->queue->below, r ? &below : NULL, c->below_err);
    call_left(c);
    status = call_status(c, status, errors);
    if (out && !r)
        call_wrong(c, LIBCORE, "no memory is left for the layer");
    if (r && !below != (status != COLLET_OK))
        call_wrong(c, PLUGIN, "it returned the status %d and %s recording", status,
                   below ? "a" : "no");
    if (r && status == COLLET_OK && below) {
        keep(c, r, replaced, below, out);
        return status;
    }
    if (r && below)
        below_of(c)->release(c->device->below, below);
    if (replaced && forget(c, replaced))
        *out = NULL;
    else
        free(replaced ? NULL : r);
    return status;
}

static collet_status record_end(collet_device *named, collet_queue *in, collet_recording **out,
                                collet_error *err)
{
    call c;
    collet_status status = COLLET_FAILED;
    recording *replaced = NULL;
    if (!call_begin(&c, COLLET_EXTENSION_RECORD " end", named, err) ||
        !call_own_queue(&c, in, RECORDS))
        return call_end(&c, status);
    c.lost = 0; /* it does no work */
    if (!c.queue->recording)
        call_wrong(&c, LIBCORE, "the queue does not record");
    else if (!out || !*out || (replaced = find(&c, *out)))
        status = end_below(&c, replaced, out);
    c.queue->recording = 0;
    clear(&c.queue->recorded);
    object_put((object *)replaced);
    return call_end(&c, status);
}

/* ---- Replaying --------------------------------------------------------------------------- */

static collet_status replay(call *c, recording *r)
{
    buffer **taken = calloc(r->uses.count + 1u, sizeof(buffer *));
    collet_status status = COLLET_FAILED;
    uint32_t count = taken ? take(c, r, taken) : 0;
    if (!taken)
        call_wrong(c, LIBCORE, "no memory is left for the layer");
    if (c->wrong.status == COLLET_OK) {
        call_enter(c);
        status = below_of(c)->replay(c->device->below, c->queue->below, r->below, c->below_err);
        call_left(c);
        status = call_status(c, status, errors);
        for (uint32_t i = 0; status != COLLET_REFUSED && i < count; i++)
            queue_used(c->queue, taken[i]);
        r->sequence = c->queue->sequence;
    }
    for (uint32_t i = 0; i < count; i++)
        call_release_buffer(taken[i], r->uses.buffers[i].written);
    free(taken);
    return status;
}

static collet_status record_replay(collet_device *named, collet_queue *in, collet_recording *handle,
                                   collet_error *err)
{
    call c;
    collet_status status = COLLET_FAILED;
    recording *r = NULL;
    if (call_begin(&c, COLLET_EXTENSION_RECORD " replay", named, err) &&
        call_own_queue(&c, in, ENQUEUES) && (r = find(&c, handle))) {
        if (r->queue != c.queue->object.id)
            call_wrong(&c, LIBCORE, "it was recorded in another queue");
        else
            status = replay(&c, r);
    }
    object_put((object *)r);
    return call_end(&c, status);
}

static int is_over(const call *c, const recording *r)
{
    /* queue_destroy has waited for it. */
    queue *q = (queue *)object_get((void *)(uintptr_t)r->queue, OBJECT_QUEUE);
    int over = 1;
    if (q) {
        pthread_mutex_lock(&q->lock);
        over = r->sequence <= q->done || atomic_load(&c->device->lost);
        pthread_mutex_unlock(&q->lock);
    }
    object_put((object *)q);
    return over;
}

static void record_release(collet_device *named, collet_recording *handle)
{
    call c;
    recording *r = NULL;
    if (!handle)
        return;
    if (call_begin(&c, COLLET_EXTENSION_RECORD " release", named, NULL) && (r = find(&c, handle))) {
        if (!is_over(&c, r)) {
            call_wrong(&c, LIBCORE, "no wait has reported its last replay; it is not released");
        } else if (forget(&c, r)) {
            call_enter(&c);
            below_of(&c)->release(c.device->below, r->below);
            call_left(&c);
        }
    }
    object_put((object *)r);
    call_end(&c, COLLET_OK);
}

const collet_record_extension validation_record = {
    sizeof validation_record, 0, record_begin, record_end, record_replay, record_release};
