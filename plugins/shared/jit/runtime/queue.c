/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/cuda/test_cuda_device.c, tests/opencl/test_opencl.c */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "queue.h"

#include "shared/host/util/clock.h"

/* ---- Tickets --------------------------------------------------------------------------------- */

static int passed(collet_queue *queue, uint64_t ticket)
{
    jit_queue *q = jit_queue_of(queue);
    pthread_mutex_lock(&q->lock);
    if (q->retired < ticket)
        jit_slots_of(queue)->retire(queue);
    int retired = q->retired >= ticket;
    pthread_mutex_unlock(&q->lock);
    return retired;
}

void jit_queue_await(collet_queue *queue, uint64_t ticket)
{
    jit_queue *q = jit_queue_of(queue);
    pthread_mutex_lock(&q->lock);
    if (q->retired < ticket)
        jit_slots_of(queue)->retire(queue);
    if (q->retired < ticket)
        jit_slots_of(queue)->reach(queue, ticket);
    pthread_mutex_unlock(&q->lock);
}

/* ---- Failures -------------------------------------------------------------------------------- */

void jit_queue_fail(collet_queue *queue, collet_status status, const char *format, ...)
{
    jit_queue *q = jit_queue_of(queue);
    va_list arguments;
    if (q->failure != COLLET_OK)
        return;
    q->failure = status;
    q->failed_at = q->retired < q->submitted ? q->retired + 1 : q->submitted;
    va_start(arguments, format);
    (void)vsnprintf(q->failed, sizeof q->failed, format, arguments);
    va_end(arguments);
}

collet_status jit_queue_check(collet_queue *queue, collet_error *err)
{
    jit_queue *q = jit_queue_of(queue);
    pthread_mutex_lock(&q->lock);
    collet_status status = q->failure;
    if (status != COLLET_OK)
        jit_host(q->device)->fail(err, status, "%s", q->failed);
    pthread_mutex_unlock(&q->lock);
    return status;
}

/* ---- The timeline ---------------------------------------------------------------------------- */

uint64_t jit_queue_mark(collet_device *d, collet_queue *queue)
{
    jit_queue *q = jit_queue_of(queue);
    (void)d;
    pthread_mutex_lock(&q->lock);
    if (jit_slots_of(queue)->mark)
        jit_slots_of(queue)->mark(queue);
    uint64_t value = q->submitted;
    pthread_mutex_unlock(&q->lock);
    return value;
}

/* Waits for a limited time, by polling: neither OpenCL nor CUDA has waits with a limit. */
static int passed_within(collet_queue *queue, uint64_t ticket, int64_t nanoseconds)
{
    struct timespec pause = {0, 20000};
    int64_t begin = clock_now();
    while (!passed(queue, ticket)) {
        if (clock_now() - begin >= nanoseconds)
            return 0;
        nanosleep(&pause, NULL);
        pause.tv_nsec = pause.tv_nsec < 500000 ? 2 * pause.tv_nsec : 1000000;
    }
    return 1;
}

collet_status jit_queue_wait(collet_device *d, collet_queue *queue, uint64_t value,
                             int64_t nanoseconds, collet_error *err)
{
    jit_queue *q = jit_queue_of(queue);
    if (nanoseconds < 0)
        jit_slots_of(queue)->block(queue, value);
    else if (jit_slots_of(queue)->submit)
        jit_slots_of(queue)->submit(queue);
    if (!passed_within(queue, value, nanoseconds < 0 ? INT64_MAX : nanoseconds))
        return jit_host(d)->fail(err, COLLET_NOT_READY, "the queue is still at work");
    pthread_mutex_lock(&q->lock);
    if (q->failure != COLLET_OK && !q->drained) {
        q->drained = 1;
        jit_slots_of(queue)->drain(queue);
    }
    collet_status status = value >= q->failed_at ? q->failure : COLLET_OK;
    if (status != COLLET_OK)
        jit_host(d)->fail(err, status, "%s", q->failed);
    else
        status = jit_check(d, err);
    pthread_mutex_unlock(&q->lock);
    return status;
}

collet_status jit_queue_after(collet_device *d, collet_queue *queue, collet_queue *other,
                              uint64_t value, collet_error *err)
{
    (void)d;
    return jit_after_first(jit_slots_of(queue)->order(queue, other, value, err));
}

/* ---- The list -------------------------------------------------------------------------------- */

static collet_queue *idle_queue(jit_base *b)
{
    pthread_mutex_lock(&b->lock);
    collet_queue *queue = b->queues;
    while (queue && !jit_queue_of(queue)->idle)
        queue = jit_queue_of(queue)->next;
    if (queue)
        jit_queue_of(queue)->idle = 0;
    pthread_mutex_unlock(&b->lock);
    return queue;
}

static void queue_free(jit_queue *q)
{
    jit_driver_of(q->device)->queue->close((collet_queue *)(void *)q);
    pthread_mutex_destroy(&q->staging.lock);
    pthread_mutex_destroy(&q->lock);
    free(q);
}

void jit_signals_block(sigset_t *before)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, before);
}

void jit_signals_restore(const sigset_t *before)
{
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

collet_status jit_queue_create(collet_device *d, collet_queue **queue, collet_error *err)
{
    jit_base *b = jit_base_of(d);
    *queue = idle_queue(b);
    if (*queue)
        return COLLET_OK;
    jit_queue *q = calloc(1, b->driver->queue_bytes);
    if (!q || pthread_mutex_init(&q->lock, NULL) || pthread_mutex_init(&q->staging.lock, NULL)) {
        free(q);
        return b->host->fail(err, COLLET_NO_MEMORY, "out of memory for a queue");
    }
    q->device = d;
    sigset_t before;
    jit_signals_block(&before);
    collet_status status = b->driver->queue->open((collet_queue *)(void *)q, err);
    jit_signals_restore(&before);
    if (status != COLLET_OK) {
        queue_free(q);
        return jit_after_first(status);
    }
    pthread_mutex_lock(&b->lock);
    q->next = b->queues;
    b->queues = (collet_queue *)(void *)q;
    pthread_mutex_unlock(&b->lock);
    *queue = (collet_queue *)(void *)q;
    return COLLET_OK;
}

void jit_queue_destroy(collet_device *d, collet_queue *queue)
{
    if (!queue)
        return;
    jit_queue *q = jit_queue_of(queue);
    pthread_mutex_lock(&q->lock);
    jit_slots_of(queue)->drain(queue);
    q->failure = COLLET_OK;
    q->drained = 0;
    pthread_mutex_unlock(&q->lock);
    pthread_mutex_lock(&jit_base_of(d)->lock);
    q->idle = 1;
    pthread_mutex_unlock(&jit_base_of(d)->lock);
}

void jit_queues_visit(collet_device *d, void (*visit)(collet_queue *queue))
{
    jit_base *b = jit_base_of(d);
    pthread_mutex_lock(&b->lock);
    for (collet_queue *queue = b->queues; queue; queue = jit_queue_of(queue)->next) {
        pthread_mutex_lock(&jit_queue_of(queue)->lock);
        visit(queue);
        pthread_mutex_unlock(&jit_queue_of(queue)->lock);
    }
    pthread_mutex_unlock(&b->lock);
}

void jit_queues_free(collet_device *d)
{
    jit_base *b = jit_base_of(d);
    while (b->queues) {
        jit_queue *q = jit_queue_of(b->queues);
        b->queues = q->next;
        b->driver->queue->drain((collet_queue *)(void *)q);
        queue_free(q);
    }
}
