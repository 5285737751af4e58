/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "runtime.h"

static collet_status queue_create(device *d, queue **out, collet_error *err)
{
    queue *q = calloc(1, sizeof *q);
    if (!q)
        return collet_fail(err, COLLET_NO_MEMORY, "out of memory for a queue of %s", d->name);
    q->device = d;
    if (!d->synchronous) {
        collet_status status = d->table->queue_create(d->handle, &q->handle, err);
        if (status != COLLET_OK) {
            free(q);
            return status;
        }
    }
    pthread_mutex_init(&q->lock, NULL);
    *out = q;
    return COLLET_OK;
}

collet_status queue_take(device *d, queue **out, collet_error *err)
{
    pthread_mutex_lock(&d->owner->lock);
    queue *q = d->idle;
    if (q)
        d->idle = q->next;
    pthread_mutex_unlock(&d->owner->lock);
    if (q) {
        q->next = NULL;
        *out = q;
        return COLLET_OK;
    }
    return queue_create(d, out, err);
}

void queue_give_back(queue *q)
{
    if (!q)
        return;
    pthread_mutex_lock(&q->device->owner->lock);
    q->next = q->device->idle;
    q->device->idle = q;
    pthread_mutex_unlock(&q->device->owner->lock);
}

void queues_destroy(device *d)
{
    while (d->idle) {
        queue *q = d->idle;
        d->idle = q->next;
        if (q->handle)
            d->table->queue_destroy(d->handle, q->handle);
        pthread_mutex_destroy(&q->lock);
        free(q);
    }
}

/* Under the queue's lock. What failed may be anything since the last wait: all of it is suspect. */
static collet_status wait_locked(queue *q, collet_error *err)
{
    collet_error why = {COLLET_OK, ""};
    uint64_t submitted = atomic_load(&q->submitted), completed = atomic_load(&q->completed);
    if (completed >= submitted)
        return COLLET_OK;
    collet_status status = q->device->table->queue_wait(q->device->handle, q->handle, &why);
    if (status != COLLET_OK) {
        q->failure = status;
        q->failed_after = completed;
        q->failed_upto = submitted;
        if (status == COLLET_DEVICE_LOST)
            atomic_store(&q->device->state, DEVICE_GONE);
        collet_fail(err, status, "%s", why.text);
    }
    atomic_store(&q->completed, submitted);
    return status;
}

collet_status queue_wait(queue *q, collet_error *err)
{
    if (!q->handle)
        return COLLET_OK;
    pthread_mutex_lock(&q->lock);
    collet_status status = wait_locked(q, err);
    pthread_mutex_unlock(&q->lock);
    return status;
}

collet_status queue_wait_ticket(queue *q, uint64_t ticket, collet_error *err)
{
    if (!q->handle)
        return COLLET_OK;
    pthread_mutex_lock(&q->lock);
    collet_status status =
        atomic_load(&q->completed) < ticket ? wait_locked(q, err) : COLLET_OK;
    if (status == COLLET_OK && ticket > q->failed_after && ticket <= q->failed_upto)
        status = collet_fail(err, q->failure, "work on %s that wrote these bytes failed",
                             q->device->name);
    pthread_mutex_unlock(&q->lock);
    return status;
}

static collet_status meet_on_device(queue *q, queue *other, collet_error *err)
{
    const collet_plugin *table = q->device->table;
    collet_event *event = NULL;
    collet_status status = table->event_create(q->device->handle, &event, err);
    if (status != COLLET_OK)
        return status;
    pthread_mutex_lock(&other->lock);
    status = table->event_record(q->device->handle, event, other->handle, err);
    pthread_mutex_unlock(&other->lock);
    if (status == COLLET_OK) {
        pthread_mutex_lock(&q->lock);
        status = table->queue_wait_event(q->device->handle, q->handle, event, err);
        pthread_mutex_unlock(&q->lock);
    }
    table->event_destroy(q->device->handle, event);
    return status;
}

collet_status queue_after(queue *q, queue *other, uint64_t ticket, collet_error *err)
{
    if (q == other)
        return COLLET_OK;
    if (q && q->handle && q->device == other->device && atomic_load(&other->completed) < ticket)
        return meet_on_device(q, other, err);
    return queue_wait_ticket(other, ticket, err);
}
