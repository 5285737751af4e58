/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_queue.c, tests/core/test_copies.c */
#include "order.h"

#include "block.h"

/* ---- Waiting ----------------------------------------------------------------------------- */

void queue_wait(queue *q)
{
    use_reach((use){q, atomic_load(&q->submitted)});
}

collet_status queue_finish(queue *q, uint64_t after, uint64_t upto, collet_error *err)
{
    collet_status status = COLLET_OK;
    queue_wait(q);
    if (!atomic_load(&q->failure_count))
        return COLLET_OK;
    pthread_mutex_lock(&q->lock);
    for (uint32_t i = 0; i < q->failure_count && status == COLLET_OK; i++) {
        const queue_failure *f = &q->failures[i];
        if (after < upto && upto > f->after && after < f->upto)
            status = collet_fail(err, f->status, "%s", f->why);
    }
    pthread_mutex_unlock(&q->lock);
    return status;
}

void queues_destroy(device *d)
{
    /* Waits for all queues before any is destroyed: a wait frees memory, whose uses refer to other
     * queues. */
    for (queue *q = d->queues; q; q = q->next)
        queue_wait(q);
    queues_free(d);
}

/* ---- Order ------------------------------------------------------------------------------- */

/* The last wait of q's handle for `other`; if there is none, the oldest wait, cleared for reuse. */
static use *wait_of(queue *q, const queue *other)
{
    for (uint32_t i = 0; i < QUEUE_WAITS; i++)
        if (q->waits[i].queue == other)
            return &q->waits[i];
    use *oldest = &q->waits[q->next_wait++ % QUEUE_WAITS];
    *oldest = (use){NULL, 0};
    return oldest;
}

static collet_status order_on_device(queue *q, queue *other, uint64_t ticket, collet_error *err)
{
    device *d = q->device;
    collet_status status = queue_lock(q, err);
    if (status != COLLET_OK)
        return status;
    use *last = wait_of(q, other);
    pthread_rwlock_rdlock(&other->handle_lock);
    if (last->ticket < ticket && atomic_load(&other->completed) < ticket) {
        device_enter(d);
        status = device_leave(d, d->table->queue_after(d->handle, q->handle, other->handle,
                                                       ticket - other->base, err));
        if (status == COLLET_OK)
            *last = (use){other, ticket};
    }
    pthread_rwlock_unlock(&other->handle_lock);
    pthread_mutex_unlock(&q->lock);
    return status;
}

collet_status queue_after(queue *q, queue *other, uint64_t ticket, int needed, collet_error *err)
{
    collet_status status = COLLET_OK;
    if (q == other)
        ; /* work in one queue is in order */
    else if (q && !q->device->synchronous && q->device == other->device &&
             atomic_load(&other->completed) < ticket)
        status = order_on_device(q, other, ticket, err);
    else
        use_reach((use){other, ticket});
    return status == COLLET_OK && needed ? queue_outcome(other, ticket, err) : status;
}

/* ---- Copies between devices -------------------------------------------------------------- */

/* Copies use their own queue, so that the device's other queues need not wait for the other
 * device. */
static collet_status queue_for_copies(device *d, queue **out, collet_error *err)
{
    queue *made = NULL;
    pthread_mutex_lock(&d->owner->lock);
    *out = d->copies;
    pthread_mutex_unlock(&d->owner->lock);
    if (*out)
        return COLLET_OK;
    collet_status status = queue_take(d, &made, err);
    if (status != COLLET_OK)
        return status;
    pthread_mutex_lock(&d->owner->lock);
    if (!d->copies) {
        d->copies = made;
        made = NULL;
    }
    *out = d->copies;
    pthread_mutex_unlock(&d->owner->lock);
    queue_return(made);
    return COLLET_OK;
}

/* Locks two queues in the order of their devices, to avoid deadlocks between contexts that share
 * queues and copy in both directions. */
static collet_status queues_lock(queue *a, queue *b, collet_error *err)
{
    queue *first = a->device->ordinal < b->device->ordinal ? a : b;
    collet_status status = queue_lock(first, err);
    if (status != COLLET_OK)
        return status;
    status = queue_lock(first == a ? b : a, err);
    if (status != COLLET_OK)
        pthread_mutex_unlock(&first->lock);
    return status;
}

static collet_status copy_between(queue *q, collet_buffer *target, queue *by, collet_buffer *source,
                                  uint64_t bytes, collet_error *err)
{
    device *d = q->device, *from = by->device, *first = d->ordinal < from->ordinal ? d : from;
    device *second = first == d ? from : d;
    device_enter(first);
    device_enter(second);
    collet_status status =
        d->extensions.copy->between(d->handle, q->handle, target, 0, from->table, from->handle,
                                    by->handle, source, 0, bytes, err);
    device_leave(second, COLLET_OK);
    device_leave(first, COLLET_OK);
    return device_note_status(d, status);
}

collet_status queue_copy_between(queue *q, collet_buffer *target, device *from,
                                 collet_buffer *source, uint64_t bytes, const use *written,
                                 use *read, uint64_t *ticket, collet_error *err)
{
    queue *by = NULL;
    collet_error why = {COLLET_OK, ""};
    if (!q->device->extensions.copy || q->device->synchronous || from->synchronous)
        return COLLET_REFUSED;
    collet_status status = queue_for_copies(from, &by, &why);
    if (status == COLLET_OK && written->queue)
        status = queue_after(by, written->queue, written->ticket, 1, &why);
    if (status != COLLET_OK)
        return COLLET_REFUSED;
    status = queues_lock(by, q, &why);
    if (status != COLLET_OK)
        return atomic_load(&q->device->state) == DEVICE_LOST
                   ? collet_fail(err, COLLET_DEVICE_LOST, "%s", why.text)
                   : COLLET_REFUSED;
    status = copy_between(q, target, by, source, bytes, &why);
    *ticket = queue_unlock(q);
    *read = (use){by, queue_unlock(by)};
    if (status != COLLET_OK && status != COLLET_REFUSED)
        collet_fail(err, status, "%s", why.text);
    return status;
}
