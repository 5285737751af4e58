/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams, and what is known of how far they are. The driver is not asked after each command, which
 * would cost as much as the launch: every CUDA_MARK_EVERY commands a queue records a mark.
 */
#include "backend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Marks ----------------------------------------------------------------------------------- */

static cuda_mark *mark_at(collet_queue *q, uint64_t i)
{
    return &q->marks[(q->first_mark + i) % CUDA_MARKS];
}

/* Marks where the queue is now. The oldest mark gives way when all are taken: what it would have
 * told, a later one tells too. */
static CUresult add_mark(collet_queue *q)
{
    if (q->mark_count && mark_at(q, q->mark_count - 1)->ticket == q->submitted)
        return CUDA_SUCCESS;
    if (q->mark_count == CUDA_MARKS) {
        q->first_mark++;
        q->mark_count--;
    }
    cuda_mark *mark = mark_at(q, q->mark_count);
    CUresult error = q->device->cu.EventRecord(mark->event, q->handle);
    if (error != CUDA_SUCCESS)
        return error;
    mark->ticket = q->submitted;
    q->mark_count++;
    return CUDA_SUCCESS;
}

uint64_t cuda_commit(collet_queue *q, const char *label)
{
    uint64_t ticket = ++q->submitted;
    q->labels[ticket & (CUDA_LABELS - 1)] = label;
    /* A mark that cannot be made is not missed: the stream itself tells when it is empty. */
    if (ticket % CUDA_MARK_EVERY == 0)
        add_mark(q);
    return ticket;
}

static void all_passed(collet_queue *q)
{
    q->retired = q->submitted;
    q->first_mark += q->mark_count;
    q->mark_count = 0;
}

/* ---- Failures -------------------------------------------------------------------------------- */

/* The commands that are not known to have passed, any of which may be what failed. */
static int suspects(const collet_queue *q, char *text, size_t size)
{
    uint64_t count = q->submitted - q->retired, first = q->retired + 1;
    if (count > CUDA_LABELS)
        first = q->submitted - CUDA_LABELS + 1;
    int used =
        count > 1 ? snprintf(text, size, "one of %llu commands (", (unsigned long long)count) : 0;
    const char *last = NULL;
    for (uint64_t i = first; i <= q->submitted && (size_t)used + 1 < size; i++) {
        const char *label = q->labels[i & (CUDA_LABELS - 1)];
        if (label == last)
            continue;
        used += snprintf(text + used, size - (size_t)used, "%s%s", last ? ", " : "", label);
        last = label;
    }
    if (count > 1 && (size_t)used + 1 < size)
        used += snprintf(text + used, size - (size_t)used, ")");
    return used;
}

void cuda_note(collet_queue *q, CUresult error)
{
    char who[CUDA_MESSAGE - 170] = "", why[160];
    collet_error err = {COLLET_OK, ""};
    if (q->failure != COLLET_OK)
        return;
    if (q->submitted > q->retired)
        suspects(q, who, sizeof who);
    q->failure = device_after_first(cuda_fail(q->device, error, "", &err));
    snprintf(q->failed, sizeof q->failed, "%s%s%s", who, *who ? " failed: " : "",
             cuda_error_text(&q->device->cu, error, why));
    all_passed(q);
}

/* ---- Tickets --------------------------------------------------------------------------------- */

/* Finds out how far the queue is; marks happen in order. */
static void retire(collet_queue *q)
{
    const cuda_driver *cu = &q->device->cu;
    CUresult error = CUDA_SUCCESS;
    while (q->mark_count && error == CUDA_SUCCESS) {
        error = cu->EventQuery(mark_at(q, 0)->event);
        if (error != CUDA_SUCCESS)
            break;
        q->retired = mark_at(q, 0)->ticket;
        q->first_mark++;
        q->mark_count--;
    }
    if (error == CUDA_SUCCESS && q->retired < q->submitted) {
        error = cu->StreamQuery(q->handle);
        if (error == CUDA_SUCCESS)
            all_passed(q);
    }
    if (error != CUDA_SUCCESS && error != CUDA_ERROR_NOT_READY)
        cuda_note(q, error);
}

void cuda_drain(collet_queue *q)
{
    CUresult error = q->device->cu.StreamSynchronize(q->handle);
    if (error != CUDA_SUCCESS)
        cuda_note(q, error);
    all_passed(q);
}

int device_queue_passed(collet_queue *q, uint64_t ticket)
{
    pthread_mutex_lock(&q->lock);
    if (q->retired < ticket && cuda_enter(q->device) == CUDA_SUCCESS) {
        retire(q);
        cuda_leave(q->device);
    }
    int passed = q->retired >= ticket;
    pthread_mutex_unlock(&q->lock);
    return passed;
}

void device_queue_await(collet_queue *q, uint64_t ticket)
{
    pthread_mutex_lock(&q->lock);
    if (q->retired < ticket && cuda_enter(q->device) == CUDA_SUCCESS) {
        retire(q);
        if (q->retired < ticket)
            cuda_drain(q);
        cuda_leave(q->device);
    }
    pthread_mutex_unlock(&q->lock);
}

/* Under the lock of `other`: the first mark from `ticket` on, made where there is none. */
static CUresult mark_from(collet_queue *other, uint64_t ticket, CUevent *event)
{
    CUresult error = CUDA_SUCCESS;
    *event = NULL;
    for (uint64_t i = 0; i < other->mark_count && !*event; i++)
        if (mark_at(other, i)->ticket >= ticket)
            *event = mark_at(other, i)->event;
    if (!*event) {
        error = add_mark(other);
        if (error == CUDA_SUCCESS)
            *event = mark_at(other, other->mark_count - 1)->event;
    }
    return error;
}

collet_status device_queue_order(collet_queue *q, collet_queue *other, uint64_t ticket,
                                 collet_error *err)
{
    collet_device *d = q->device;
    CUresult error = cuda_enter(d);
    if (error != CUDA_SUCCESS)
        return cuda_fail(d, error, "waiting for a queue", err);
    pthread_mutex_lock(&other->lock);
    retire(other);
    if (other->retired < ticket) {
        CUevent event;
        error = mark_from(other, ticket, &event);
        if (error == CUDA_SUCCESS)
            error = d->cu.StreamWaitEvent(q->handle, event, 0);
    }
    pthread_mutex_unlock(&other->lock);
    cuda_leave(d);
    return error == CUDA_SUCCESS ? COLLET_OK : cuda_fail(d, error, "waiting for a queue", err);
}

/* ---- Queues ---------------------------------------------------------------------------------- */

static collet_queue *idle_queue(collet_device *d)
{
    pthread_mutex_lock(&d->lock);
    collet_queue *q = d->queues;
    while (q && !q->idle)
        q = q->next;
    if (q)
        q->idle = 0;
    pthread_mutex_unlock(&d->lock);
    return q;
}

static void release_blas(collet_device *d, collet_queue *q)
{
    if (q->blas)
        d->blas.Destroy(q->blas);
    q->blas = NULL;
}

/* In the device's context. */
static void queue_free(collet_device *d, collet_queue *q)
{
    release_blas(d, q);
    for (uint32_t i = 0; i < CUDA_MARKS; i++)
        if (q->marks[i].event)
            d->cu.EventDestroy(q->marks[i].event);
    if (q->handle)
        d->cu.StreamDestroy(q->handle);
    pthread_mutex_destroy(&q->lock);
    free(q);
}

/* In the device's context. */
static CUresult fill_queue(collet_device *d, collet_queue *q)
{
    CUresult error = d->cu.StreamCreate(&q->handle, CU_STREAM_NON_BLOCKING);
    for (uint32_t i = 0; i < CUDA_MARKS && error == CUDA_SUCCESS; i++)
        error = d->cu.EventCreate(&q->marks[i].event, CU_EVENT_DISABLE_TIMING);
    return error;
}

collet_status cuda_queue_create(collet_device *d, collet_queue **queue, collet_error *err)
{
    collet_queue *q = idle_queue(d);
    if (q) {
        *queue = q;
        return COLLET_OK;
    }
    q = calloc(1, sizeof *q);
    if (!q || pthread_mutex_init(&q->lock, NULL)) {
        free(q);
        return d->host->fail(err, COLLET_NO_MEMORY, "no memory for a queue");
    }
    q->device = d;
    CUresult error = cuda_enter(d);
    if (error != CUDA_SUCCESS) {
        pthread_mutex_destroy(&q->lock);
        free(q);
        return device_after_first(cuda_fail(d, error, "a queue", err));
    }
    error = fill_queue(d, q);
    if (error != CUDA_SUCCESS)
        queue_free(d, q);
    cuda_leave(d);
    if (error != CUDA_SUCCESS)
        return device_after_first(cuda_fail(d, error, "a queue", err));
    pthread_mutex_lock(&d->lock);
    q->next = d->queues;
    d->queues = q;
    pthread_mutex_unlock(&d->lock);
    *queue = q;
    return COLLET_OK;
}

/* The stream lives on: freed buffers may still name tickets of it. */
void cuda_queue_destroy(collet_device *d, collet_queue *q)
{
    if (!q)
        return;
    cuda_queue_wait(d, q, NULL);
    pthread_mutex_lock(&d->lock);
    q->idle = 1;
    pthread_mutex_unlock(&d->lock);
}

static void drain_all(collet_device *d, int trim)
{
    if (cuda_enter(d) != CUDA_SUCCESS)
        return;
    pthread_mutex_lock(&d->lock);
    for (collet_queue *q = d->queues; q; q = q->next) {
        pthread_mutex_lock(&q->lock);
        cuda_drain(q);
        if (trim)
            release_blas(d, q);
        pthread_mutex_unlock(&q->lock);
    }
    pthread_mutex_unlock(&d->lock);
    cuda_leave(d);
}

void cuda_queues_drain(collet_device *d)
{
    drain_all(d, 0);
}

void cuda_queues_trim(collet_device *d)
{
    drain_all(d, 1);
}

void cuda_queues_free(collet_device *d)
{
    int entered = d->queues && cuda_enter(d) == CUDA_SUCCESS;
    while (d->queues) {
        collet_queue *q = d->queues;
        d->queues = q->next;
        cuda_drain(q);
        queue_free(d, q);
    }
    if (entered)
        cuda_leave(d);
}

/* Under the queue's lock: what has failed since the last wait. */
static collet_status outcome(collet_queue *q, collet_error *err)
{
    collet_status status = q->failure;
    q->failure = COLLET_OK;
    if (status != COLLET_OK)
        return q->device->host->fail(err, status, "%s", q->failed);
    return atomic_load(&q->device->lost) ? cuda_gone(q->device, err) : COLLET_OK;
}

collet_status cuda_queue_check(collet_queue *q, collet_error *err)
{
    pthread_mutex_lock(&q->lock);
    collet_status status = q->failure;
    if (status != COLLET_OK)
        q->device->host->fail(err, status, "%s", q->failed);
    pthread_mutex_unlock(&q->lock);
    return status;
}

collet_status cuda_queue_wait(collet_device *d, collet_queue *q, collet_error *err)
{
    CUresult error = cuda_enter(d);
    if (error != CUDA_SUCCESS)
        return device_after_first(cuda_fail(d, error, "waiting for the device", err));
    pthread_mutex_lock(&q->lock);
    cuda_drain(q);
    collet_status status = outcome(q, err);
    pthread_mutex_unlock(&q->lock);
    cuda_leave(d);
    return status;
}
