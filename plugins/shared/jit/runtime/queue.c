/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "backend.h"

/* ---- Tickets --------------------------------------------------------------------------------- */

int device_queue_passed(collet_queue *queue, uint64_t ticket)
{
    device_queue *q = device_queue_of(queue);
    pthread_mutex_lock(&q->lock);
    if (q->retired < ticket)
        device_queue_retire(queue);
    int passed = q->retired >= ticket;
    pthread_mutex_unlock(&q->lock);
    return passed;
}

void device_queue_await(collet_queue *queue, uint64_t ticket)
{
    device_queue *q = device_queue_of(queue);
    pthread_mutex_lock(&q->lock);
    if (q->retired < ticket)
        device_queue_retire(queue);
    if (q->retired < ticket)
        device_queue_reach(queue, ticket);
    pthread_mutex_unlock(&q->lock);
}

/* ---- Failures -------------------------------------------------------------------------------- */

void device_queue_fail(collet_queue *queue, collet_status status, const char *format, ...)
{
    device_queue *q = device_queue_of(queue);
    va_list arguments;
    if (q->failure != COLLET_OK)
        return;
    q->failure = status;
    va_start(arguments, format);
    (void)vsnprintf(q->failed, sizeof q->failed, format, arguments);
    va_end(arguments);
}

collet_status device_queue_check(collet_queue *queue, collet_error *err)
{
    device_queue *q = device_queue_of(queue);
    pthread_mutex_lock(&q->lock);
    collet_status status = q->failure;
    if (status != COLLET_OK)
        device_host(q->device)->fail(err, status, "%s", q->failed);
    pthread_mutex_unlock(&q->lock);
    return status;
}

collet_status device_queue_wait(collet_device *d, collet_queue *queue, collet_error *err)
{
    device_queue *q = device_queue_of(queue);
    pthread_mutex_lock(&q->lock);
    device_queue_drain(queue);
    collet_status status = q->failure;
    q->failure = COLLET_OK;
    if (status != COLLET_OK)
        device_host(d)->fail(err, status, "%s", q->failed);
    else if (atomic_load(&device_base_of(d)->lost))
        status = device_gone(d, err);
    pthread_mutex_unlock(&q->lock);
    return status;
}

/* ---- The list -------------------------------------------------------------------------------- */

static collet_queue *idle_queue(device_base *b)
{
    pthread_mutex_lock(&b->lock);
    collet_queue *queue = b->queues;
    while (queue && !device_queue_of(queue)->idle)
        queue = device_queue_of(queue)->next;
    if (queue)
        device_queue_of(queue)->idle = 0;
    pthread_mutex_unlock(&b->lock);
    return queue;
}

static void queue_free(device_queue *q)
{
    device_staging_release((collet_queue *)(void *)q);
    device_backend_queue_close((collet_queue *)(void *)q);
    pthread_mutex_destroy(&q->staging.lock);
    pthread_mutex_destroy(&q->lock);
    free(q);
}

collet_status device_queue_create(collet_device *d, collet_queue **queue, collet_error *err)
{
    device_base *b = device_base_of(d);
    *queue = idle_queue(b);
    if (*queue)
        return COLLET_OK;
    device_queue *q = calloc(1, this_backend.queue_bytes);
    if (!q || pthread_mutex_init(&q->lock, NULL) || pthread_mutex_init(&q->staging.lock, NULL)) {
        free(q);
        return b->host->fail(err, COLLET_NO_MEMORY, "no memory for a queue");
    }
    q->device = d;
    collet_status status = device_backend_queue_open((collet_queue *)(void *)q, err);
    if (status != COLLET_OK) {
        queue_free(q);
        return device_after_first(status);
    }
    pthread_mutex_lock(&b->lock);
    q->next = b->queues;
    b->queues = (collet_queue *)(void *)q;
    pthread_mutex_unlock(&b->lock);
    *queue = (collet_queue *)(void *)q;
    return COLLET_OK;
}

void device_queue_destroy(collet_device *d, collet_queue *queue)
{
    if (!queue)
        return;
    device_queue_wait(d, queue, NULL);
    pthread_mutex_lock(&device_base_of(d)->lock);
    device_queue_of(queue)->idle = 1;
    pthread_mutex_unlock(&device_base_of(d)->lock);
}

void device_queues_visit(collet_device *d, void (*visit)(collet_queue *queue))
{
    device_base *b = device_base_of(d);
    pthread_mutex_lock(&b->lock);
    for (collet_queue *queue = b->queues; queue; queue = device_queue_of(queue)->next) {
        pthread_mutex_lock(&device_queue_of(queue)->lock);
        visit(queue);
        pthread_mutex_unlock(&device_queue_of(queue)->lock);
    }
    pthread_mutex_unlock(&b->lock);
}

void device_queues_unpin(collet_device *d)
{
    device_base *b = device_base_of(d);
    pthread_mutex_lock(&b->lock);
    for (collet_queue *queue = b->queues; queue; queue = device_queue_of(queue)->next)
        device_staging_release(queue);
    pthread_mutex_unlock(&b->lock);
}

void device_queues_free(collet_device *d)
{
    device_base *b = device_base_of(d);
    while (b->queues) {
        device_queue *q = device_queue_of(b->queues);
        b->queues = q->next;
        device_queue_wait(d, (collet_queue *)(void *)q, NULL);
        queue_free(q);
    }
}
