/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_queue.c, tests/core/test_failures.c */
#include "queue.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A thread that already holds the lock gets an error when it locks it again: see context/end.c. */
static void lock_init(pthread_mutex_t *lock)
{
    pthread_mutexattr_t checked;
    pthread_mutexattr_init(&checked);
    pthread_mutexattr_settype(&checked, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(lock, &checked);
    pthread_mutexattr_destroy(&checked);
}

static collet_status queue_create(device *d, queue **out, collet_error *err)
{
    queue *q = calloc(1, sizeof *q);
    if (!q)
        return collet_fail(err, COLLET_NO_MEMORY, "out of memory for a queue of %s", d->name);
    q->device = d;
    atomic_init(&q->lost_after, UINT64_MAX);
    if (!d->synchronous) {
        device_enter(d);
        collet_status status = device_leave(d, d->table->queue_create(d->handle, &q->handle, err));
        if (status != COLLET_OK) {
            free(q);
            return status;
        }
    }
    lock_init(&q->lock);
    pthread_rwlock_init(&q->handle_lock, NULL);
    q->number = d->queues ? d->queues->number + 1 : 1;
    q->next = d->queues;
    d->queues = q;
    *out = q;
    return COLLET_OK;
}

/* If the device supports no further queue: the queue with the fewest users. Else NULL. Under the
 * lock. */
static queue *shared_queue(const device *d)
{
    queue *fewest = d->queues;
    uint32_t count = 0;
    for (queue *q = d->queues; q; q = q->next, count++)
        if (q->users < fewest->users)
            fewest = q;
    return d->max_queues && count >= d->max_queues ? fewest : NULL;
}

collet_status queue_take(device *d, queue **out, collet_error *err)
{
    collet_status status = COLLET_OK;
    pthread_mutex_lock(&d->owner->lock);
    queue *q = d->idle;
    if (q)
        d->idle = q->next_idle;
    else if (!(q = shared_queue(d)))
        status = queue_create(d, &q, err);
    if (status == COLLET_OK) {
        q->users++;
        *out = q;
    }
    pthread_mutex_unlock(&d->owner->lock);
    return status;
}

void queue_return(queue *q)
{
    if (!q)
        return;
    pthread_mutex_lock(&q->device->owner->lock);
    if (--q->users == 0) {
        q->next_idle = q->device->idle;
        q->device->idle = q;
    }
    pthread_mutex_unlock(&q->device->owner->lock);
}

void queues_free(device *d)
{
    d->copies = d->idle = NULL;
    while (d->queues) {
        queue *q = d->queues;
        d->queues = q->next;
        if (q->handle && !atomic_load(&d->hung))
            d->table->queue_destroy(d->handle, q->handle);
        pthread_rwlock_destroy(&q->handle_lock);
        pthread_mutex_destroy(&q->lock);
        free(q);
    }
}

/* ---- Failures ---------------------------------------------------------------------------- */

/* Marks all tickets after `after` as failed, until the handle is replaced. Under the queue's
 * lock. */
static void failure_note(queue *q, collet_status status, uint64_t after, const char *why)
{
    uint32_t count = atomic_load(&q->failure_count);
    if (count == QUEUE_FAILURES) {
        /* Tickets in between are conservatively marked failed. */
        q->failures[0].upto = q->failures[1].upto;
        memmove(&q->failures[1], &q->failures[2], (QUEUE_FAILURES - 2) * sizeof *q->failures);
        count--;
    }
    queue_failure *f = &q->failures[count];
    *f = (queue_failure){.status = status, .after = after, .upto = UINT64_MAX};
    snprintf(f->why, sizeof f->why, "%.479s", why);
    atomic_store(&q->failure_count, count + 1);
    q->failed = 1;
}

/* Waits, with one of the locks held. `ask` = 1: does not wait, but returns NOT_READY. */
static collet_status handle_wait(queue *q, uint64_t ticket, int ask, collet_error *err)
{
    device *d = q->device;
    int64_t timeout = ask ? 0 : d->owner->runtime->timeout;
    if (atomic_load(&d->hung))
        return collet_fail(err, COLLET_DEVICE_LOST, "the device did not finish other work in time");
    if (ask && d->one_call && pthread_mutex_trylock(&d->calls))
        return COLLET_NOT_READY;
    if (!ask)
        device_enter(d);
    collet_status status =
        device_leave(d, d->table->queue_wait(d->handle, q->handle, ticket - q->base, timeout, err));
    if (status == COLLET_NOT_READY && !ask) {
        atomic_store(&d->hung, 1);
        status = collet_fail(err, COLLET_DEVICE_LOST,
                             "it did not finish within %" PRId64 " s (setting 'timeout')",
                             timeout / 1000000000);
    }
    return device_note_status(d, status);
}

/* Replaces the handle. Under the queue's lock. queue_destroy waits without a limit, so a wait with
 * the limit comes first. */
static collet_status handle_replace(queue *q, collet_error *err)
{
    device *d = q->device;
    if (atomic_load(&d->state) == DEVICE_LOST)
        return device_lost(d, err);
    if (q->handle && handle_wait(q, atomic_load(&q->submitted), 0, err) == COLLET_DEVICE_LOST)
        return COLLET_DEVICE_LOST;
    pthread_rwlock_wrlock(&q->handle_lock);
    device_enter(d);
    d->table->queue_destroy(d->handle, q->handle);
    device_leave(d, COLLET_OK);
    q->handle = NULL;
    /* A write that the plugin does immediately may leave the new counter at 0. */
    q->failures[q->failure_count - 1].upto = atomic_fetch_add(&q->submitted, 1);
    q->base = atomic_load(&q->submitted);
    atomic_store(&q->completed, q->base);
    memset(q->waits, 0, sizeof q->waits);
    device_enter(d);
    collet_status status = device_leave(d, d->table->queue_create(d->handle, &q->handle, err));
    q->failed = status != COLLET_OK;
    pthread_rwlock_unlock(&q->handle_lock);
    return status;
}

collet_status queue_failure_of(queue *q, uint64_t ticket, collet_error *err)
{
    collet_status status = COLLET_OK;
    if (!q || !atomic_load(&q->failure_count))
        return COLLET_OK;
    pthread_mutex_lock(&q->lock);
    for (uint32_t i = 0; i < q->failure_count && status == COLLET_OK; i++) {
        const queue_failure *f = &q->failures[i];
        if (ticket > f->after && ticket <= f->upto)
            status = collet_fail(err, f->status, "%s", f->why);
    }
    pthread_mutex_unlock(&q->lock);
    return status;
}

collet_status queue_outcome(queue *q, uint64_t ticket, collet_error *err)
{
    collet_error why;
    collet_status status = queue_failure_of(q, ticket, &why);
    return status == COLLET_OK
               ? COLLET_OK
               : collet_fail(err, status, "work on %s that wrote these bytes failed: %.900s",
                             q->device->name, why.text);
}

/* ---- Enqueuing --------------------------------------------------------------------------- */

collet_status queue_lock(queue *q, collet_error *err)
{
    pthread_mutex_lock(&q->lock);
    collet_status status = q->failed ? handle_replace(q, err) : COLLET_OK;
    if (status != COLLET_OK)
        pthread_mutex_unlock(&q->lock);
    return status;
}

uint64_t queue_unlock(queue *q)
{
    device *d = q->device;
    uint64_t ticket = 0;
    if (!d->synchronous) {
        device_enter(d);
        ticket = q->base + d->table->queue_mark(d->handle, q->handle);
        device_leave(d, COLLET_OK);
    }
    atomic_store(&q->submitted, ticket);
    pthread_mutex_unlock(&q->lock);
    return ticket;
}

/* ---- Waiting ----------------------------------------------------------------------------- */

static void complete(queue *q, uint64_t ticket)
{
    uint64_t known = atomic_load(&q->completed);
    while (known < ticket && !atomic_compare_exchange_weak(&q->completed, &known, ticket))
        ;
}

/* After a wait for `ticket` reported a failure: finds the last ticket that did not fail. All later
 * tickets failed, because a queue that has failed stays failed. With handle_lock read-locked. */
static uint64_t last_good(queue *q, uint64_t ticket, collet_status status)
{
    collet_error err;
    uint64_t good = atomic_load(&q->completed), bad = ticket;
    while (status != COLLET_DEVICE_LOST && bad - good > 1) {
        uint64_t middle = good + (bad - good) / 2;
        if (handle_wait(q, middle, 0, &err) == COLLET_OK)
            good = middle;
        else
            bad = middle;
    }
    return good < bad ? good : bad - 1;
}

static void trace_wait(trace *t, const device *d, int64_t begin)
{
    trace_write(t, &(trace_event){.category = "wait",
                                  .name = "wait",
                                  .device = d->name,
                                  .detail = "",
                                  .clock = "host",
                                  .begin = begin,
                                  .end = trace_now(),
                                  .row = trace_here(TRACE_HOST)});
}

void queue_await(queue *q, uint64_t ticket)
{
    trace *t = q->device->owner->runtime->trace;
    int64_t begin = t ? trace_now() : 0;
    collet_error why = {COLLET_OK, ""};
    collet_status status = COLLET_OK;
    uint64_t good = 0, base = 0;
    if (atomic_load(&q->completed) >= ticket)
        return;
    pthread_rwlock_rdlock(&q->handle_lock);
    if (atomic_load(&q->completed) < ticket) {
        base = q->base;
        status = handle_wait(q, ticket, 0, &why);
        if (status != COLLET_OK)
            good = last_good(q, ticket, status);
    }
    pthread_rwlock_unlock(&q->handle_lock);
    if (status != COLLET_OK) {
        pthread_mutex_lock(&q->lock);
        if (!q->failed && q->base == base)
            failure_note(q, status, good, why.text);
        /* After a device is lost, no thread waits for it again. */
        if (status == COLLET_DEVICE_LOST) {
            ticket = atomic_load(&q->submitted);
            if (good < atomic_load(&q->lost_after))
                atomic_store(&q->lost_after, good);
        }
        pthread_mutex_unlock(&q->lock);
    }
    complete(q, ticket);
    if (t)
        trace_wait(t, q->device, begin);
}

/* Only waits report failures. Otherwise a call that noticed a failure between its transfers and its kernel would
 * fail, although the host has the bytes. */
int queue_passed(queue *q, uint64_t ticket)
{
    collet_error why;
    if (atomic_load(&q->completed) >= ticket)
        return 1;
    if (pthread_rwlock_tryrdlock(&q->handle_lock))
        return 0;
    int passed =
        atomic_load(&q->completed) >= ticket || handle_wait(q, ticket, 1, &why) == COLLET_OK;
    pthread_rwlock_unlock(&q->handle_lock);
    if (passed)
        complete(q, ticket);
    return passed;
}

int queue_works(queue *q)
{
    collet_error why;
    uint64_t ticket = atomic_load(&q->submitted);
    if (atomic_load(&q->completed) >= ticket || pthread_rwlock_tryrdlock(&q->handle_lock))
        return 0;
    int works =
        atomic_load(&q->completed) < ticket && handle_wait(q, ticket, 1, &why) == COLLET_NOT_READY;
    pthread_rwlock_unlock(&q->handle_lock);
    return works;
}
