/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime.h"

static collet_status queue_create(device *d, queue **out, collet_error *err)
{
    queue *q = calloc(1, sizeof *q);
    if (!q)
        return collet_fail(err, COLLET_NO_MEMORY, "out of memory for a queue of %s", d->name);
    q->device = d;
    if (!d->synchronous) {
        collet_status status =
            device_note_status(d, d->table->queue_create(d->handle, &q->handle, err));
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

void queue_return(queue *q)
{
    if (!q)
        return;
    pthread_mutex_lock(&q->lock);
    q->unreported.status = COLLET_OK; /* not the next context's failure */
    pthread_mutex_unlock(&q->lock);
    pthread_mutex_lock(&q->device->owner->lock);
    q->next = q->device->idle;
    q->device->idle = q;
    pthread_mutex_unlock(&q->device->owner->lock);
}

void queues_destroy(device *d)
{
    if (d->copies)
        queue_return(d->copies);
    d->copies = NULL;
    while (d->idle) {
        queue *q = d->idle;
        d->idle = q->next;
        if (q->handle)
            d->table->queue_destroy(d->handle, q->handle);
        pthread_mutex_destroy(&q->lock);
        free(q);
    }
}

static void failure_note(queue *q, collet_status status, uint64_t upto, const char *why)
{
    uint32_t count = atomic_load(&q->failure_count);
    if (count == QUEUE_FAILURES) {
        /* Tickets in between are conservatively marked failed. */
        q->failures[0].upto = q->failures[1].upto;
        memmove(&q->failures[1], &q->failures[2], (QUEUE_FAILURES - 2) * sizeof *q->failures);
        count--;
    }
    queue_failure *f = &q->failures[count];
    *f = (queue_failure){.status = status, .after = atomic_load(&q->completed), .upto = upto};
    snprintf(f->why, sizeof f->why, "%.199s", why);
    atomic_store(&q->failure_count, count + 1);
    if (q->unreported.status == COLLET_OK)
        collet_fail(&q->unreported, status, "%s", why);
}

/* Under the queue's lock. Any ticket since the last wait may be the one that failed: all are
 * marked. */
static void wait_locked(queue *q)
{
    collet_error why = {COLLET_OK, ""};
    uint64_t submitted = atomic_load(&q->submitted);
    if (atomic_load(&q->completed) >= submitted)
        return;
    device *d = q->device;
    collet_status status = device_note_status(d, d->table->queue_wait(d->handle, q->handle, &why));
    if (status != COLLET_OK)
        failure_note(q, status, submitted, why.text);
    atomic_store(&q->completed, submitted);
}

void queue_wait(queue *q)
{
    if (!q->handle)
        return;
    pthread_mutex_lock(&q->lock);
    wait_locked(q);
    pthread_mutex_unlock(&q->lock);
}

collet_status queue_finish(queue *q, collet_error *err)
{
    if (!q->handle)
        return COLLET_OK;
    pthread_mutex_lock(&q->lock);
    wait_locked(q);
    collet_status status = q->unreported.status;
    if (status != COLLET_OK)
        collet_fail(err, status, "%s", q->unreported.text);
    q->unreported.status = COLLET_OK;
    pthread_mutex_unlock(&q->lock);
    return status;
}

static void wait_ticket(queue *q, uint64_t ticket)
{
    if (atomic_load(&q->completed) < ticket)
        queue_wait(q);
}

collet_status queue_outcome(queue *q, uint64_t ticket, collet_error *err)
{
    collet_status status = COLLET_OK;
    if (!q || !atomic_load(&q->failure_count))
        return COLLET_OK;
    pthread_mutex_lock(&q->lock);
    for (uint32_t i = 0; i < q->failure_count && status == COLLET_OK; i++) {
        const queue_failure *f = &q->failures[i];
        if (ticket > f->after && ticket <= f->upto)
            status = collet_fail(err, f->status, "work on %s that wrote these bytes failed: %s",
                                 q->device->name, f->why);
    }
    pthread_mutex_unlock(&q->lock);
    return status;
}

static collet_status meet_on_device(queue *q, queue *other, collet_error *err)
{
    device *d = q->device;
    collet_event *event = NULL;
    collet_status status = device_note_status(d, d->table->event_create(d->handle, &event, err));
    if (status != COLLET_OK)
        return status;
    pthread_mutex_lock(&other->lock);
    status = d->table->event_record(d->handle, event, other->handle, err);
    pthread_mutex_unlock(&other->lock);
    if (status == COLLET_OK) {
        pthread_mutex_lock(&q->lock);
        status = d->table->queue_wait_event(d->handle, q->handle, event, err);
        pthread_mutex_unlock(&q->lock);
    }
    d->table->event_destroy(d->handle, event);
    return device_note_status(d, status);
}

collet_status queue_after(queue *q, queue *other, uint64_t ticket, int needed, collet_error *err)
{
    collet_status status = COLLET_OK;
    if (q == other)
        ; /* one queue is in order */
    else if (q && q->handle && q->device == other->device &&
             atomic_load(&other->completed) < ticket)
        status = meet_on_device(q, other, err);
    else
        wait_ticket(other, ticket);
    return status == COLLET_OK && needed ? queue_outcome(other, ticket, err) : status;
}

/* ---- Copies between devices -------------------------------------------------------------- */

/* Copies have a queue of their own, so that the device's other queues need not wait for the other
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

collet_status queue_copy_between(queue *q, collet_buffer *target, device *from,
                                 collet_buffer *source, uint64_t bytes, const use *written,
                                 use *read, uint64_t *ticket, collet_error *err)
{
    device *d = q->device;
    queue *by = NULL;
    collet_error why = {COLLET_OK, ""};
    if (!TABLE_SLOT(d->table, buffer_copy_between))
        return COLLET_REFUSED;
    collet_status status = queue_for_copies(from, &by, &why);
    if (status == COLLET_OK && written->queue)
        status = queue_after(by, written->queue, written->ticket, 1, &why);
    if (status != COLLET_OK)
        return COLLET_REFUSED;
    /* Only copies hold two locks: that of the copy queue, then the other. */
    pthread_mutex_lock(&by->lock);
    pthread_mutex_lock(&q->lock);
    status = d->table->buffer_copy_between(d->handle, q->handle, target, 0, from->table,
                                           from->handle, by->handle, source, 0, bytes, &why);
    if (status != COLLET_REFUSED) {
        *ticket = atomic_fetch_add(&q->submitted, 1) + 1;
        *read = (use){by, atomic_fetch_add(&by->submitted, 1) + 1};
    }
    pthread_mutex_unlock(&q->lock);
    pthread_mutex_unlock(&by->lock);
    if (status != COLLET_OK && status != COLLET_REFUSED)
        collet_fail(err, status, "%s", why.text);
    return device_note_status(d, status);
}
