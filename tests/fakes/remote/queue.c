/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "remote.h"

struct collet_queue {
    collet_device *device;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    task *first, **last;
    int busy, ending;
    collet_status failure; /* the first since the last wait */
    uint32_t failed_op;
};

task *task_new(collet_device *d, collet_status (*work)(collet_device *, task *))
{
    task *t = calloc(1, sizeof *t);
    (void)d;
    if (t)
        t->work = work;
    return t;
}

static void event_unref(collet_event *e)
{
    pthread_mutex_lock(&e->lock);
    int last = --e->references == 0;
    pthread_mutex_unlock(&e->lock);
    if (!last)
        return;
    pthread_mutex_destroy(&e->lock);
    pthread_cond_destroy(&e->happened_now);
    free(e);
}

static void task_free(task *t)
{
    for (int i = 0; i < 3; i++)
        if (t->buffers[i])
            buffer_unref(t->buffers[i]);
    if (t->event)
        event_unref(t->event);
    free(t->source);
    free(t);
}

static void *queue_thread(void *argument)
{
    collet_queue *q = argument;
    pthread_mutex_lock(&q->lock);
    for (;;) {
        while (!q->first && !q->ending)
            pthread_cond_wait(&q->changed, &q->lock);
        task *t = q->first;
        if (!t)
            break;
        q->first = t->next;
        if (!q->first)
            q->last = &q->first;
        q->busy = 1;
        pthread_mutex_unlock(&q->lock);
        if (t->call && q->device->delay_us)
            usleep((useconds_t)q->device->delay_us);
        uint32_t op = t->op;
        collet_status status = t->work(q->device, t);
        task_free(t);
        pthread_mutex_lock(&q->lock);
        q->busy = 0;
        if (status != COLLET_OK && q->failure == COLLET_OK) {
            q->failure = status;
            q->failed_op = op;
        }
        pthread_cond_broadcast(&q->changed);
    }
    pthread_mutex_unlock(&q->lock);
    return NULL;
}

void queue_push(collet_queue *q, task *t)
{
    pthread_mutex_lock(&q->lock);
    *q->last = t;
    q->last = &t->next;
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->lock);
}

collet_status remote_queue_create(collet_device *d, collet_queue **out, collet_error *err)
{
    collet_queue *q = calloc(1, sizeof *q);
    if (!q)
        return d->host->fail(err, COLLET_NO_MEMORY, "no memory for a queue");
    q->device = d;
    q->last = &q->first;
    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->changed, NULL);
    if (pthread_create(&q->thread, NULL, queue_thread, q)) {
        free(q);
        return d->host->fail(err, COLLET_FAILED, "no thread for a queue");
    }
    *out = q;
    return COLLET_OK;
}

void remote_queue_destroy(collet_device *d, collet_queue *q)
{
    (void)d;
    if (!q)
        return;
    pthread_mutex_lock(&q->lock);
    q->ending = 1;
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->lock);
    pthread_join(q->thread, NULL);
    pthread_mutex_destroy(&q->lock);
    pthread_cond_destroy(&q->changed);
    free(q);
}

collet_status remote_queue_wait(collet_device *d, collet_queue *q, collet_error *err)
{
    pthread_mutex_lock(&q->lock);
    while (q->first || q->busy)
        pthread_cond_wait(&q->changed, &q->lock);
    collet_status status = q->failure;
    uint32_t op = q->failed_op;
    q->failure = COLLET_OK;
    pthread_mutex_unlock(&q->lock);
    if (status != COLLET_OK)
        return d->host->fail(err, status, "the kernel of op %u failed", op);
    return COLLET_OK;
}

/* ---- Events ------------------------------------------------------------------------------ */

collet_status remote_event_create(collet_device *d, collet_event **out, collet_error *err)
{
    collet_event *e = calloc(1, sizeof *e);
    if (!e)
        return d->host->fail(err, COLLET_NO_MEMORY, "no memory for an event");
    pthread_mutex_init(&e->lock, NULL);
    pthread_cond_init(&e->happened_now, NULL);
    e->references = 1;
    *out = e;
    return COLLET_OK;
}

void remote_event_destroy(collet_device *d, collet_event *e)
{
    (void)d;
    if (e)
        event_unref(e);
}

static collet_status event_happen(collet_device *d, task *t)
{
    struct timespec now;
    (void)d;
    clock_gettime(CLOCK_MONOTONIC, &now);
    pthread_mutex_lock(&t->event->lock);
    t->event->happened = 1;
    t->event->when_ms = (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
    pthread_cond_broadcast(&t->event->happened_now);
    pthread_mutex_unlock(&t->event->lock);
    return COLLET_OK;
}

static collet_status event_await(collet_device *d, task *t)
{
    return remote_event_wait(d, t->event, NULL);
}

static collet_status event_push(collet_device *d, collet_event *e, collet_queue *q,
                                collet_status (*work)(collet_device *, task *), collet_error *err)
{
    task *t = task_new(d, work);
    if (!t)
        return d->host->fail(err, COLLET_NO_MEMORY, "no memory for a task");
    pthread_mutex_lock(&e->lock);
    e->references++;
    if (work == event_happen) {
        e->recorded = 1;
        e->happened = 0;
    }
    pthread_mutex_unlock(&e->lock);
    t->event = e;
    queue_push(q, t);
    return COLLET_OK;
}

collet_status remote_event_record(collet_device *d, collet_event *e, collet_queue *q,
                                  collet_error *err)
{
    return event_push(d, e, q, event_happen, err);
}

collet_status remote_queue_wait_event(collet_device *d, collet_queue *q, collet_event *e,
                                      collet_error *err)
{
    return event_push(d, e, q, event_await, err);
}

collet_status remote_event_query(collet_device *d, collet_event *e, collet_error *err)
{
    (void)d;
    (void)err;
    pthread_mutex_lock(&e->lock);
    int done = !e->recorded || e->happened;
    pthread_mutex_unlock(&e->lock);
    return done ? COLLET_OK : COLLET_NOT_READY;
}

collet_status remote_event_wait(collet_device *d, collet_event *e, collet_error *err)
{
    (void)d;
    (void)err;
    pthread_mutex_lock(&e->lock);
    while (e->recorded && !e->happened)
        pthread_cond_wait(&e->happened_now, &e->lock);
    pthread_mutex_unlock(&e->lock);
    return COLLET_OK;
}

collet_status remote_event_elapsed(collet_device *d, collet_event *first, collet_event *last,
                                   double *milliseconds, collet_error *err)
{
    (void)d;
    (void)err;
    *milliseconds = last->when_ms - first->when_ms;
    return COLLET_OK;
}
