/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/layers/test_validation.c */
#include "validation.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- What is done ------------------------------------------------------------------------ */

void queue_used(queue *q, buffer *b)
{
    pthread_mutex_lock(&q->lock);
    uint64_t sequence = ++q->sequence;
    pthread_mutex_unlock(&q->lock);
    if (!b)
        return;
    pthread_mutex_lock(&b->lock);
    uint32_t i = 0;
    while (i < b->use_count && b->uses[i].queue != q->object.id)
        i++;
    /* A full list drops its oldest use: missing a violation is better than reporting a false violation. */
    if (i == BUFFER_USES)
        memmove(&b->uses[0], &b->uses[1], --i * sizeof *b->uses);
    b->uses[i] = (buffer_use){q->object.id, sequence};
    b->use_count = i == b->use_count ? i + 1 : b->use_count;
    pthread_mutex_unlock(&b->lock);
}

/* Notes a mark; the caller holds the lock. If the list is full, pairs of marks are merged: the commands of both then
 * count as done when the first mark is reached. */
static void remember_mark(queue *q, uint64_t value)
{
    uint32_t last = q->mark_count - 1;
    if (value <= q->reached) /* a failed call may not have enqueued a command */
        q->done = q->sequence;
    else if (q->mark_count && q->marks[last].value == value) {
        q->marks[last].sequence = q->sequence;
    } else if (q->mark_count < QUEUE_MARKS) {
        q->marks[q->mark_count++] = (queue_mark){value, q->sequence};
    } else {
        for (uint32_t i = 0; i < QUEUE_MARKS / 2; i++)
            q->marks[i] = (queue_mark){q->marks[2 * i].value, q->marks[2 * i + 1].sequence};
        q->mark_count = QUEUE_MARKS / 2;
        q->marks[q->mark_count++] = (queue_mark){value, q->sequence};
    }
}

/* Notes that the counter is at least `value`. Work of other queues for which this queue waited is
 * not known to be done, because a failed queue may have skipped the wait. */
static void reach(queue *q, uint64_t value)
{
    uint32_t i = 0;
    pthread_mutex_lock(&q->lock);
    for (; i < q->mark_count && q->marks[i].value <= value; i++)
        if (q->marks[i].sequence > q->done)
            q->done = q->marks[i].sequence;
    memmove(q->marks, q->marks + i, (q->mark_count - i) * sizeof *q->marks);
    q->mark_count -= i;
    pthread_mutex_unlock(&q->lock);
}

int queue_failed(queue *q)
{
    pthread_mutex_lock(&q->lock);
    int failed = q->failed != 0;
    pthread_mutex_unlock(&q->lock);
    return failed;
}

void queue_all_done(queue *q)
{
    pthread_mutex_lock(&q->lock);
    remember_mark(q, UINT64_MAX);
    pthread_mutex_unlock(&q->lock);
    reach(q, UINT64_MAX);
}

int buffer_in_use(buffer *b, uint64_t *where)
{
    int used = 0;
    pthread_mutex_lock(&b->lock);
    for (uint32_t i = 0; i < b->use_count && !used; i++) {
        *where = b->uses[i].queue;
        /* NULL: the queue was destroyed, and queue_destroy has waited for the work. */
        queue *q = (queue *)object_get((void *)(uintptr_t)*where, OBJECT_QUEUE);
        if (!q)
            continue;
        pthread_mutex_lock(&q->lock);
        used = q->done < b->uses[i].sequence;
        pthread_mutex_unlock(&q->lock);
        object_put((object *)q);
    }
    pthread_mutex_unlock(&b->lock);
    return used;
}

/* ---- Life -------------------------------------------------------------------------------- */

static collet_status create(call *c, queue *q)
{
    device *d = c->device;
    if (d->properties.order != COLLET_ORDER_QUEUES)
        call_wrong(c, LIBCORE, "a synchronous device has no queues");
    else if (d->properties.max_queues && atomic_load(&d->queues) >= d->properties.max_queues)
        call_wrong(c, LIBCORE, "the device already has %u queues, its max_queues",
                   d->properties.max_queues);
    if (c->wrong.status != COLLET_OK)
        return COLLET_FAILED;
    call_enter(c);
    collet_status status = d->of->below->queue_create(d->below, &q->below, c->below_err);
    status = call_status(c, status, CONTRACT_CREATE);
    if (status == COLLET_OK && !q->below)
        call_wrong(c, PLUGIN, "it returned OK and no queue");
    if (status == COLLET_OK && c->wrong.status != COLLET_OK) {
        d->of->below->queue_destroy(d->below, q->below);
        status = COLLET_FAILED;
    }
    return status;
}

collet_status validation_queue_create(collet_device *handle, collet_queue **out, collet_error *err)
{
    call c;
    collet_status status = COLLET_FAILED;
    queue *q = calloc(1, sizeof *q);
    int go = call_begin(&c, "queue_create", handle, err);
    if (!q || !out)
        call_wrong(&c, LIBCORE, q ? "`queue` is NULL" : "the layer is out of memory");
    else if (go)
        status = create(&c, q);
    if (status == COLLET_OK) {
        pthread_mutex_init(&q->lock, NULL);
        q->device = c.device;
        q->handle = *out = object_add(&q->object, OBJECT_QUEUE);
        atomic_fetch_add(&c.device->queues, 1);
        instance_check(&c, c.device->of);
    } else {
        free(q);
    }
    return call_end(&c, status);
}

void validation_queue_destroy(collet_device *handle, collet_queue *named)
{
    call c;
    if (!named)
        return;
    if (!call_begin(&c, "queue_destroy", handle, NULL) || !call_queue(&c, named, WAITS)) {
        call_end(&c, COLLET_OK);
        return;
    }
    device *d = c.device;
    if (!object_remove(&c.queue->object)) {
        call_wrong(&c, LIBCORE, "another call uses the queue; it is not destroyed");
    } else {
        call_enter(&c);
        d->of->below->queue_destroy(d->below, c.queue->below);
        call_left(&c);
        queue_all_done(c.queue);
        atomic_fetch_sub(&d->queues, 1);
    }
    call_end(&c, COLLET_OK);
}

/* ---- The timeline ------------------------------------------------------------------------ */

uint64_t validation_queue_mark(collet_device *handle, collet_queue *named)
{
    call c;
    uint64_t value = 0;
    if (call_begin(&c, "queue_mark", handle, NULL) && call_queue(&c, named, ENQUEUES) && c.queue) {
        queue *q = c.queue;
        call_enter(&c);
        value = c.device->of->below->queue_mark(c.device->below, q->below);
        call_left(&c);
        pthread_mutex_lock(&q->lock);
        if (value < q->marked)
            call_wrong(&c, PLUGIN,
                       "it returned %" PRIu64 ", which is less than the mark before, %" PRIu64,
                       value, q->marked);
        else
            q->marked = value;
        remember_mark(q, value);
        pthread_mutex_unlock(&q->lock);
    }
    call_end(&c, COLLET_OK);
    return value;
}

static int64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* The state of a queue before a wait. */
typedef struct wait_state {
    uint64_t marked, reached, failed;
    int64_t time;
} wait_state;

static wait_state wait_begin(queue *q)
{
    pthread_mutex_lock(&q->lock);
    wait_state s = {q->marked, q->reached, q->failed, now()};
    pthread_mutex_unlock(&q->lock);
    return s;
}

#define CLOCK_SLACK 1000000 /* nanoseconds by which clocks may differ */

/* Checks the result of a wait by the state before it, by its time and by a second wait. */
static void check_outcome(call *c, uint64_t value, int64_t nanoseconds, const wait_state *before,
                          collet_status status)
{
    device *d = c->device;
    queue *q = c->queue;
    collet_error again = {COLLET_OK, ""};
    int64_t took = now() - before->time;
    uint64_t failed = before->failed, reached = before->reached;
    if (status == COLLET_OK && failed && value >= failed)
        call_wrong(c, PLUGIN,
                   "it returned OK for %" PRIu64 ", but a wait for %" PRIu64 " returned FAILED",
                   value, failed);
    if (status == COLLET_NOT_READY && value <= reached)
        call_wrong(c, PLUGIN,
                   "it returned NOT_READY for %" PRIu64 ", but the counter was %" PRIu64 " before",
                   value, reached);
    if (status == COLLET_NOT_READY && (nanoseconds < 0 || took < nanoseconds - CLOCK_SLACK))
        call_wrong(c, PLUGIN,
                   "it returned NOT_READY after %" PRId64 " ns; the limit is %" PRId64 " ns", took,
                   nanoseconds);
    if (status != COLLET_OK && status != COLLET_FAILED)
        return;
    collet_status second = d->of->below->queue_wait(d->below, q->below, value, 0, &again);
    if (second != status && second != COLLET_DEVICE_LOST)
        call_wrong(c, PLUGIN, "it returned %s for %" PRIu64 ", and %s at a second call",
                   status == COLLET_OK ? "OK" : "FAILED", value,
                   second == COLLET_OK          ? "OK"
                   : second == COLLET_NOT_READY ? "NOT_READY"
                                                : "FAILED");
}

static void note_outcome(queue *q, uint64_t value, collet_status status)
{
    pthread_mutex_lock(&q->lock);
    if (status == COLLET_FAILED && (!q->failed || value < q->failed))
        q->failed = value;
    if (value > q->reached)
        q->reached = value;
    pthread_mutex_unlock(&q->lock);
    reach(q, value);
}

collet_status validation_queue_wait(collet_device *handle, collet_queue *named, uint64_t value,
                                    int64_t nanoseconds, collet_error *err)
{
    call c;
    collet_status status = COLLET_FAILED;
    if (!call_begin(&c, "queue_wait", handle, err) || !call_queue(&c, named, WAITS) || !c.queue)
        return call_end(&c, status);
    wait_state before = wait_begin(c.queue);
    if (value > before.marked) {
        call_wrong(&c, LIBCORE, "value is %" PRIu64 ", which is above the last mark, %" PRIu64,
                   value, before.marked);
        return call_end(&c, status);
    }
    c.lost = 0; /* work that was done before the device was lost may be reported as done */
    call_enter(&c);
    status = c.device->of->below->queue_wait(c.device->below, c.queue->below, value, nanoseconds,
                                             c.below_err);
    status = call_status(&c, status, CONTRACT_WAIT);
    check_outcome(&c, value, nanoseconds, &before, status);
    if (status == COLLET_OK || status == COLLET_FAILED)
        note_outcome(c.queue, value, status);
    return call_end(&c, status);
}

collet_status validation_queue_after(collet_device *handle, collet_queue *named,
                                     collet_queue *other, uint64_t value, collet_error *err)
{
    call c;
    collet_status status = COLLET_FAILED;
    if (!call_begin(&c, "queue_after", handle, err) || !call_queue(&c, named, ENQUEUES) || !c.queue)
        return call_end(&c, status);
    c.other = (queue *)object_get(other, OBJECT_QUEUE);
    if (c.other == c.queue) {
        call_wrong(&c, LIBCORE, "`other` is the queue itself");
    } else if (!c.other || c.other->device != c.device) {
        call_wrong(&c, LIBCORE, "`other` is %s",
                   c.other ? "a queue of another device" : object_unknown(other, OBJECT_QUEUE));
    } else if (value > wait_begin(c.other).marked) {
        call_wrong(&c, LIBCORE, "%" PRIu64 " is above the last mark of `other`, %" PRIu64, value,
                   wait_begin(c.other).marked);
    } else {
        call_enter(&c);
        status = c.device->of->below->queue_after(c.device->below, c.queue->below, c.other->below,
                                                  value, c.below_err);
        status = call_status(&c, status, CONTRACT_ENQUEUE);
    }
    return call_end(&c, status);
}
