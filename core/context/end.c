/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_end.c, python/tests/process/test_end.py */
#include "end.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include <collet/floating.h>

#include "device/device.h"
#include "device/device_info.h"
#include "timeline/order.h"
#include "timeline/span.h"
#include "util/host_memory.h"

#define EXIT_SECONDS 30 /* longest wait in exit() */
#define FORK_SECONDS 2  /* longest wait in fork() */
#define PAUSE 500000    /* nanoseconds between two tries to lock */

/* The runtimes of this process; a child of fork begins without runtimes. */
static struct {
    pthread_mutex_t lock; /* also held while runtimes are ended, so that no runtime is freed meanwhile */
    collet_runtime *first;
    pthread_once_t prepared;
    int failed;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER, .prepared = PTHREAD_ONCE_INIT};

static int64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* Whether the lock could be taken before `end`; 0 at once if the calling thread holds a queue's lock, because exit()
 * was called in its signal handler. (pthread_mutex_clocklock needs glibc 2.30.) */
static int lock_until(pthread_mutex_t *lock, int64_t end)
{
    const struct timespec past = {0}, pause = {.tv_nsec = PAUSE};
    for (int error; (error = pthread_mutex_timedlock(lock, &past));) {
        if (error == EDEADLK || now() >= end)
            return 0;
        nanosleep(&pause, NULL);
    }
    return 1;
}

/* ---- A device -------------------------------------------------------------------------------- */

/* Waits for the work of a queue. Nothing is enqueued in it afterwards. 1: the work is done. */
static int finish_queue(queue *q, int64_t end)
{
    device *d = q->device;
    collet_error why;
    if (!lock_until(&q->lock, end)) /* a call that compiles or enqueues */
        return 0;
    collet_status status = COLLET_OK;
    if (!d->one_call || lock_until(&d->calls, end)) {
        int64_t left = end - now();
        status = d->table->queue_wait(d->handle, q->handle, atomic_load(&q->submitted) - q->base,
                                      left > 0 ? left : 0, &why);
        if (d->one_call)
            pthread_mutex_unlock(&d->calls);
    } else {
        status = COLLET_NOT_READY;
    }
    q->failed = 1; /* queue_lock must now replace the handle, and fails: the device is lost */
    pthread_mutex_unlock(&q->lock);
    return status != COLLET_NOT_READY;
}

/* The state is set first, so that calls that begin now are refused; calls under way hold a lock of
 * a queue while they enqueue. Nothing of the device is called afterwards. 1: all work is done. */
static int finish_device(device *d, int64_t end)
{
    int done = 1;
    if (d->synchronous || atomic_load(&d->hung))
        return 1;
    atomic_store(&d->state, DEVICE_LOST);
    if (!lock_until(&d->owner->lock, end))
        return 0;
    queue *queues = d->queues;
    pthread_mutex_unlock(&d->owner->lock);
    for (queue *q = queues; q; q = q->next)
        done &= !q->handle || finish_queue(q, end);
    if (done) {
        spans_collect(d);
        device_trim(d);
    }
    atomic_store(&d->hung, 1);
    return done;
}

/* ---- Runtimes -------------------------------------------------------------------------------- */

static int finish_runtime(collet_runtime *r, int64_t end)
{
    int done = 1;
    uint32_t devices = atomic_load(&r->device_total);
    if (r->timeout >= 0 && r->timeout < end - now())
        end = now() + r->timeout;
    for (uint32_t i = 0; i < devices; i++) {
        device *d = atomic_load(&r->devices[i]);
        if (d && atomic_load(&d->state) == DEVICE_OPEN && !finish_device(d, end)) {
            done = 0;
            log_message(&r->log, COLLET_LOG_ERROR,
                        "%s did not finish its work before the end of the process", d->name);
        }
    }
    return done;
}

/* `how`: RUNTIME_ENDED or RUNTIME_EXITS. */
static collet_status process_end(int64_t nanoseconds, int how, collet_error *err)
{
    int64_t begin = now(), end = nanoseconds < INT64_MAX - begin ? begin + nanoseconds : INT64_MAX;
    int locked = lock_until(&all.lock, end), done = locked;
    for (collet_runtime *r = all.first; locked && r; r = r->next)
        if (!atomic_load(&r->ended)) {
            r->ender = pthread_self();
            atomic_store(&r->ended, how);
            done &= finish_runtime(r, end);
        }
    if (locked)
        pthread_mutex_unlock(&all.lock);
    host_memory_trim();
    return done ? COLLET_OK
                : collet_fail(err, COLLET_NOT_READY,
                              "a device did not finish its work within %.1f s, so that the process "
                              "may crash at its "
                              "end",
                              1e-9 * (double)nanoseconds);
}

collet_status collet_process_end(int64_t nanoseconds, collet_error *err)
{
    COLLET_FLOATING_SCOPE;
    return nanoseconds >= 0 ? process_end(nanoseconds, RUNTIME_ENDED, err)
                            : collet_fail(err, COLLET_INVALID,
                                          "collet_process_end: nanoseconds is %" PRId64
                                          "; it must be at least 0",
                                          nanoseconds);
}

static void at_exit(void)
{
    COLLET_FLOATING_SCOPE;
    (void)process_end(EXIT_SECONDS * INT64_C(1000000000), RUNTIME_EXITS, NULL);
}

void end_watch(void)
{
    (void)atexit(at_exit);
}

/* ---- fork ------------------------------------------------------------------------------------ */

/* A child of fork has only this thread, but locks that other threads held stay locked. A driver's
 * threads sometimes hold the lock of the C library's loader while they compile; the child would wait for ever. */
static void settle(device *d, int64_t end)
{
    const struct timespec pause = {.tv_nsec = PAUSE};
    if (!lock_until(&d->owner->lock, end))
        return;
    queue *queues = d->queues;
    pthread_mutex_unlock(&d->owner->lock);
    for (queue *q = queues; q; q = q->next)
        while (queue_works(q) && now() < end)
            nanosleep(&pause, NULL);
}

static void before_fork(void)
{
    int64_t end = now() + FORK_SECONDS * INT64_C(1000000000);
    if (!lock_until(&all.lock, end))
        return;
    for (collet_runtime *r = all.first; r; r = r->next)
        for (uint32_t i = 0; i < atomic_load(&r->device_total); i++) {
            device *d = atomic_load(&r->devices[i]);
            if (d && atomic_load(&d->state) == DEVICE_OPEN && !d->synchronous &&
                device_is_processor(d))
                settle(d, end);
        }
    pthread_mutex_unlock(&all.lock);
}

static void in_child(void)
{
    pthread_mutex_init(&all.lock, NULL);
    all.first = NULL;
}

static void prepare(void)
{
    all.failed = pthread_atfork(before_fork, NULL, in_child);
}

collet_status end_add(collet_runtime *r, collet_error *err)
{
    pthread_once(&all.prepared, prepare);
    if (all.failed)
        return collet_fail(err, COLLET_NO_MEMORY, "out of memory for a runtime");
    pthread_mutex_lock(&all.lock);
    r->next = all.first;
    all.first = r;
    pthread_mutex_unlock(&all.lock);
    return COLLET_OK;
}

void end_remove(collet_runtime *r)
{
    pthread_mutex_lock(&all.lock);
    collet_runtime **at = &all.first;
    while (*at && *at != r)
        at = &(*at)->next;
    if (*at)
        *at = r->next;
    pthread_mutex_unlock(&all.lock);
}
