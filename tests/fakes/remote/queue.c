/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fenv.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "remote.h"

/* The counter of a queue. Tasks of other queues may wait for it even after the queue is
 * destroyed. */
struct timeline {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int references;
    uint64_t pushed, done;
    uint64_t failed_at; /* the first task that failed; 0: none */
    collet_status failure;
    uint32_t failed_op;
};

struct collet_queue {
    remote_native_queue native; /* first: cast back */
    collet_device *device;
    uint64_t serial;
    pthread_t thread;
    timeline *time; /* its lock guards the members below, too */
    task *first, **last;
    int ending;
};

task *task_new(collet_device *d, collet_status (*work)(collet_device *, task *))
{
    task *t = calloc(1, sizeof *t);
    if (t)
        t->work = work;
    return t;
}

static void timeline_unref(timeline *t)
{
    pthread_mutex_lock(&t->lock);
    int last = --t->references == 0;
    pthread_mutex_unlock(&t->lock);
    if (!last)
        return;
    pthread_mutex_destroy(&t->lock);
    pthread_cond_destroy(&t->changed);
    free(t);
}

static void task_free(task *t)
{
    for (int i = 0; i < 4; i++)
        if (t->buffers[i])
            buffer_count(t->buffers[i], -1);
    if (t->after)
        timeline_unref(t->after);
    if (t->stamp)
        t->stamp->pending = 0;
    free(t->source);
    free(t);
}

/* The caller holds the lock. */
static void task_done(timeline *time, collet_status status, uint32_t op)
{
    time->done++;
    if (status != COLLET_OK && !time->failed_at) {
        time->failed_at = time->done;
        time->failure = status;
        time->failed_op = op;
    }
    pthread_cond_broadcast(&time->changed);
}

/* Failed work leaves garbage in its target. */
static collet_status task_run(collet_device *d, task *t)
{
    if (!t->buffers[0])
        return t->work(d, t);
    if (t->ending == COLLET_DEVICE_LOST)
        d->lost = 1;
    d->clock += t->call ? d->kernel_ns : 0;
    collet_status status = d->lost                  ? COLLET_DEVICE_LOST
                           : t->ending != COLLET_OK ? t->ending
                                                    : t->work(d, t);
    if (status != COLLET_OK)
        memset(t->buffers[0]->data, 0xff, t->buffers[0]->bytes);
    return status;
}

/* Returns 1 if the queue must skip a task that follows a failed command. */
static int skipped(const collet_device *d, const task *t)
{
    int mode = d->control ? d->control->after_failure : REMOTE_GOES_ON;
    return t->after ? mode == REMOTE_SKIPS && !t->copied : mode != REMOTE_GOES_ON;
}

static void *queue_thread(void *argument)
{
    collet_queue *q = argument;
    timeline *time = q->time;
    fesetenv(FE_DFL_ENV);
    pthread_mutex_lock(&time->lock);
    for (;;) {
        while (!q->first && !q->ending)
            pthread_cond_wait(&time->changed, &time->lock);
        task *t = q->first;
        if (!t)
            break;
        q->first = t->next;
        if (!q->first)
            q->last = &q->first;
        int skips = time->failed_at && skipped(q->device, t);
        pthread_mutex_unlock(&time->lock);
        int64_t delay_us = t->delay_us + (t->call ? q->device->delay_us : 0);
        if (delay_us && !skips)
            usleep((useconds_t)delay_us);
        uint32_t op = t->op;
        int counts = !t->foreign;
        collet_status status = skips ? COLLET_OK : task_run(q->device, t);
        task_free(t);
        pthread_mutex_lock(&time->lock);
        if (counts)
            task_done(time, status, op);
    }
    pthread_mutex_unlock(&time->lock);
    return NULL;
}

static void announce(collet_queue *q, task *t)
{
    remote_control *control = q->device->control;
    if (!control || !t->buffers[0])
        return;
    remote_command c = {.device = q->device->index,
                        .queue = q->serial,
                        .value = remote_queue_mark(q->device, q) + 1,
                        .target = t->buffers[0]->serial,
                        .kernel = t->call != 0,
                        .partial = t->bytes < t->buffers[0]->bytes};
    for (int i = 0; i < 2; i++)
        c.sources[i] = t->buffers[1 + i] ? t->buffers[1 + i]->serial : 0;
    t->ending = control->enqueued(control, &c);
    t->delay_us = c.delay_us;
}

void queue_push(collet_queue *q, task *t)
{
    announce(q, t);
    pthread_mutex_lock(&q->time->lock);
    *q->last = t;
    q->last = &t->next;
    q->time->pushed += !t->foreign;
    pthread_cond_broadcast(&q->time->changed);
    pthread_mutex_unlock(&q->time->lock);
}

static collet_status foreign_work(collet_device *d, task *t)
{
    if (t->foreign)
        t->foreign(t->user);
    return COLLET_OK;
}

static void enqueue_foreign(remote_native_queue *queue, void (*work)(void *user), void *user)
{
    collet_queue *q = (collet_queue *)(void *)queue;
    task *t = task_new(q->device, foreign_work);
    if (!t)
        abort();
    t->foreign = work;
    t->user = user;
    queue_push(q, t);
}

collet_status remote_native_queue_of(collet_device *d, collet_queue *q, void **handle,
                                     collet_error *err)
{
    *handle = &q->native;
    return COLLET_OK;
}

collet_status remote_native_queue_used(collet_device *d, collet_queue *q, collet_error *err)
{
    task *t = task_new(d, foreign_work);
    if (!t)
        return d->host->fail(err, COLLET_REFUSED, "no memory for a task");
    queue_push(q, t);
    return COLLET_OK;
}

collet_status remote_queue_create(collet_device *d, collet_queue **out, collet_error *err)
{
    if (d->lost)
        return d->host->fail(err, COLLET_DEVICE_LOST, "the device is lost");
    collet_queue *q = calloc(1, sizeof *q);
    timeline *time = calloc(1, sizeof *time);
    if (!q || !time) {
        free(q);
        free(time);
        return d->host->fail(err, COLLET_NO_MEMORY, "no memory for a queue");
    }
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&time->lock, NULL);
    pthread_cond_init(&time->changed, &monotonic);
    time->references = 1;
    q->native.enqueue = enqueue_foreign;
    q->device = d;
    q->serial = next_serial(d);
    q->last = &q->first;
    q->time = time;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&q->thread, NULL, queue_thread, q);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed) {
        timeline_unref(time);
        free(q);
        return d->host->fail(err, COLLET_FAILED, "no thread for a queue");
    }
    *out = q;
    return COLLET_OK;
}

void remote_queue_destroy(collet_device *d, collet_queue *q)
{
    if (!q)
        return;
    pthread_mutex_lock(&q->time->lock);
    q->ending = 1;
    pthread_cond_broadcast(&q->time->changed);
    pthread_mutex_unlock(&q->time->lock);
    pthread_join(q->thread, NULL);
    timeline_unref(q->time);
    free(q);
}

/* ---- The timeline ------------------------------------------------------------------------ */

uint64_t remote_queue_mark(collet_device *d, collet_queue *q)
{
    pthread_mutex_lock(&q->time->lock);
    uint64_t value = q->time->pushed;
    pthread_mutex_unlock(&q->time->lock);
    return value;
}

/* Waits until `value` is done. The caller holds the lock. Returns 0 if the time is over or if `d`
 * (NULL: none) is lost. */
static int reached(const collet_device *d, timeline *time, uint64_t value, int64_t nanoseconds)
{
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += nanoseconds / 1000000000;
    end.tv_nsec += nanoseconds % 1000000000;
    if (end.tv_nsec >= 1000000000) {
        end.tv_sec++;
        end.tv_nsec -= 1000000000;
    }
    while (time->done < value && !(d && d->lost)) {
        if (nanoseconds < 0)
            pthread_cond_wait(&time->changed, &time->lock);
        else if (!nanoseconds || /* a wait with an expired time would switch threads */
                 pthread_cond_timedwait(&time->changed, &time->lock, &end) == ETIMEDOUT)
            break;
    }
    return time->done >= value;
}

collet_status remote_queue_wait(collet_device *d, collet_queue *q, uint64_t value,
                                int64_t nanoseconds, collet_error *err)
{
    timeline *time = q->time;
    pthread_mutex_lock(&time->lock);
    int done = reached(d, time, value, nanoseconds);
    int failed = time->failed_at && time->failed_at <= value;
    collet_status status = !done    ? (d->lost ? COLLET_DEVICE_LOST : COLLET_NOT_READY)
                           : failed ? time->failure
                                    : COLLET_OK;
    uint32_t op = time->failed_op;
    pthread_mutex_unlock(&time->lock);
    if (d->control)
        d->control->waited(d->control, q->serial, value, status);
    if (!done)
        return d->host->fail(err, status, "the queue is still at work");
    return failed ? d->host->fail(err, status, "the kernel of op %u failed", op) : COLLET_OK;
}

void queue_push_or_run(collet_device *d, collet_queue *q, task *t)
{
    queue_push(q ? q : d->inner, t);
    if (!q)
        remote_queue_wait(d, d->inner, remote_queue_mark(d, d->inner), -1, NULL);
}

static collet_status await(collet_device *d, task *t)
{
    pthread_mutex_lock(&t->after->lock);
    reached(NULL, t->after, t->value, -1);
    pthread_mutex_unlock(&t->after->lock);
    return COLLET_OK;
}

collet_status queue_order(collet_device *d, collet_queue *q, collet_queue *other, uint64_t value,
                          int copied, collet_error *err)
{
    task *t = task_new(d, await);
    if (!t)
        return d->host->fail(err, COLLET_REFUSED, "no memory for a task");
    t->after = other->time;
    t->value = value;
    t->copied = copied;
    pthread_mutex_lock(&other->time->lock);
    other->time->references++;
    pthread_mutex_unlock(&other->time->lock);
    queue_push(q, t);
    return COLLET_OK;
}

collet_status remote_queue_after(collet_device *d, collet_queue *q, collet_queue *other,
                                 uint64_t value, collet_error *err)
{
    return d->lost ? d->host->fail(err, COLLET_DEVICE_LOST, "the device is lost")
                   : queue_order(d, q, other, value, 0, err);
}
