/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each device that is free takes the next part from a common counter; the caller gets the results in
 * order. While the caller uses the results of a device, the device computes its next part. Functions for the
 * caller's thread are queued as requests.
 *
 * The first part of a device may take long, because the device compiles its kernels. If other devices could have
 * computed this part several times meanwhile, the part is computed again, and the results of the slow device are
 * dropped.
 *
 * Items that a failed device has not delivered are in `again`. The caller may be waiting for the first of these
 * items. Then a device that has results of later items gives them up, to prevent a deadlock: the device would wait for
 * the caller to take these results, and the caller would wait for the earlier items.
 * Tests: tests/engines/test_devices.c, tests/engines/scatter/test_scatter_devices.c
 */
#include "devices/devices.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "devices/spans.h"
#include "io/struct.h"
#include "io/thread.h"

/* A function that a device's thread lets the caller's thread call. The device's thread waits for the result. */
typedef struct request {
    collet_status (*function)(void *argument, collet_error *err);
    void *argument;
    collet_error *err;
    collet_status status;
    int taken, done;
    struct request *next;
} request;

typedef struct device {
    devices_job *job;
    int64_t index;
    pthread_t thread;
    int running;
    int asked;  /* 1: a function that this device passed to devices_ask has failed */
    char *name; /* name in a context's choice */
    /* The job's lock guards the following members. */
    devices_spans results; /* results that are not delivered, or that the caller is using */
    int64_t done;          /* number of items computed, except items whose results the device gave up */
    double seconds, rate;  /* time so far; last rate in items per second, 0: not measured */
    devices_span part;     /* the part that the device computes; empty: none */
    double began;          /* time at which the device took the part */
    int lost;              /* 1: the part is computed again */
    int failed;            /* 1: `error` says why, and does not change any more */
    collet_error error;
} device;

struct devices_job {
    devices_work work;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* `lock` guards the following members. */
    int64_t taken;       /* items that devices have taken */
    devices_spans again; /* taken items that must be computed again */
    int64_t next;        /* item that the caller gets next */
    int64_t busy;        /* devices that compute a part */
    int64_t ticks, reported;
    int stop;
    request *requests;
    collet_error error, first_error; /* `error` of the job; the error of the first failed device */
    device device[];
};

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* ---- A device's thread ----------------------------------------------------------------------- */

int devices_tick(devices_job *job)
{
    pthread_mutex_lock(&job->lock);
    job->ticks++;
    int stop = job->stop;
    pthread_cond_broadcast(&job->changed);
    pthread_mutex_unlock(&job->lock);
    return stop;
}

collet_status devices_ask(devices_job *job, int64_t index,
                          collet_status (*function)(void *argument, collet_error *err),
                          void *argument, collet_error *err)
{
    request own = {.function = function, .argument = argument, .err = err};
    pthread_mutex_lock(&job->lock);
    own.next = job->requests;
    job->requests = &own;
    pthread_cond_broadcast(&job->changed);
    while (!own.done && (own.taken || !job->stop))
        pthread_cond_wait(&job->changed, &job->lock);
    for (request **at = &job->requests; !own.taken && *at; at = &(*at)->next)
        if (*at == &own) {
            *at = own.next;
            break;
        }
    job->device[index].asked |= own.done && own.status != COLLET_OK;
    pthread_mutex_unlock(&job->lock);
    return own.done ? own.status : collet_fail(err, COLLET_CANCELLED, "cancelled by the caller");
}

void devices_end(devices_job *job, int64_t count)
{
    pthread_mutex_lock(&job->lock);
    if (count < job->work.count)
        job->work.count = count;
    if (job->taken > count)
        job->taken = count;
    pthread_cond_broadcast(&job->changed);
    pthread_mutex_unlock(&job->lock);
}

/* Returns the number of items that the device takes next. A slow device takes fewer items, so that other devices do
 * not wait for its results. Before its speed is known it takes few items. Near the end it takes half of its share
 * of the `left` items: parts become smaller, and all devices finish at about the same time. */
static int64_t part_of(const device *d, int64_t left)
{
    const devices_job *job = d->job;
    int64_t most = job->work.most, count = (most + 7) / 8;
    double best = 0, all = 0;
    int measured = 1;
    if (job->work.whole)
        return most - job->taken % most;
    for (int64_t i = 0; i < job->work.n_devices; i++) {
        const device *other = &job->device[i];
        if (other->failed)
            continue;
        best = other->rate > best ? other->rate : best;
        all += other->rate;
        measured &= other->rate > 0;
    }
    if (d->rate > 0)
        count = (int64_t)((double)most * (d->rate / best));
    if (measured && (double)left * (d->rate / all) / 2 < (double)count) {
        count = (int64_t)((double)left * (d->rate / all) / 2);
        count = count < most / 16 ? most / 16 : count;
    }
    return count < 1 ? 1 : count;
}

/* How long a device waits for another device's first part: PATIENCE times the time in which the waiting device would
 * compute this part, plus PATIENCE_S seconds. */
#define PATIENCE 3
#define PATIENCE_S 0.5

/* Returns a device that computes `item` and has computed nothing before, or NULL. */
static device *beginner_with(devices_job *job, int64_t item)
{
    for (int64_t i = 0; i < job->work.n_devices; i++) {
        device *d = &job->device[i];
        if (d->rate == 0 && !d->failed && !d->lost && d->part.first <= item && item < d->part.end)
            return d;
    }
    return NULL;
}

/* Waits for a change, with the lock held. A beginner is a device that computes its first part. If the caller needs an
 * item of a beginner that takes too long, another device computes the beginner's part again. */
static void wait_for_change(device *d)
{
    devices_job *job = d->job;
    device *slow = d->rate > 0 ? beginner_with(job, job->next) : NULL;
    double until = slow ? slow->began + PATIENCE_S + PATIENCE * (double)(slow->part.end - slow->part.first) / d->rate : 0;
    if (!slow)
        pthread_cond_wait(&job->changed, &job->lock);
    else if (now() < until) {
        const struct timespec time = {(time_t)until, (long)((until - floor(until)) * 1e9)};
        pthread_cond_timedwait(&job->changed, &job->lock, &time);
    } else if (devices_spans_reserve(&job->again, 1)) {
        devices_spans_add(&job->again, slow->part.first, slow->part.end);
        slow->lost = 1;
        pthread_cond_broadcast(&job->changed);
    } else
        pthread_cond_wait(&job->changed, &job->lock);
}

/* Takes the next items. While no item is left but other devices still compute, waits, because these devices may fail
 * and return their items. Returns an empty span if no item is left or the job is stopped. */
static devices_span take(device *d)
{
    devices_job *job = d->job;
    devices_span part = {0, 0};
    pthread_mutex_lock(&job->lock);
    for (;;) {
        int64_t left = job->work.count - job->taken;
        int64_t room = job->work.window ? job->next + job->work.window - job->taken : left;
        if (job->stop)
            break;
        if (job->again.count) {
            part = devices_spans_take(&job->again,
                                      job->work.whole ? job->work.most : part_of(d, INT64_MAX));
        } else if (left > 0 && room > 0) {
            int64_t count = part_of(d, left);
            count = count < room ? count : room;
            part = (devices_span){job->taken, job->taken + (count < left ? count : left)};
            job->taken = part.end;
        } else if (left > 0 || job->busy) {
            wait_for_change(d);
            continue;
        }
        break;
    }
    job->busy += part.first < part.end;
    d->part = part;
    d->began = now();
    pthread_mutex_unlock(&job->lock);
    return part;
}

/* Gives up the device's results of items after `item`: adds them to `again`, which must have room. */
static void give_up_results(device *d, int64_t item)
{
    devices_spans *results = &d->results;
    while (results->count && results->list[results->count - 1].first > item) {
        devices_span last = results->list[--results->count];
        devices_spans_add(&d->job->again, last.first, last.end);
        d->done -= last.end - last.first;
    }
}

enum { FREE, STOPPED, GIVEN_UP, NO_ROOM };

/* Waits until the caller has taken enough results of the device, so that the results of the items from
 * `first` on have room. GIVEN_UP: earlier items must be computed first. */
static int wait_until_delivered(device *d, int64_t first)
{
    devices_job *job = d->job;
    devices_spans *results = &d->results;
    int state = -1;
    pthread_mutex_lock(&job->lock);
    while (state < 0) {
        int64_t again = devices_spans_first(&job->again), needed = again < first ? again : first;
        if (job->stop)
            state = STOPPED;
        else if (results->count < job->work.depth)
            state = FREE;
        else if (results->list[results->count - 1].first < needed)
            wait_for_change(d);
        else if (!devices_spans_reserve(&job->again, results->count))
            state = NO_ROOM;
        else {
            give_up_results(d, needed);
            state = again < first ? GIVEN_UP : FREE;
        }
    }
    pthread_mutex_unlock(&job->lock);
    return state;
}

/* Called when compute has returned. The device now has a rate, so it is no longer a beginner. Returns 1 if another
 * device computes the part again: the results must be dropped. */
static int is_lost(device *d, int64_t count, double seconds)
{
    pthread_mutex_lock(&d->job->lock);
    int lost = d->lost;
    d->seconds += lost ? seconds : 0;
    if (lost || !(d->rate > 0))
        d->rate = (double)count / (seconds > 1e-9 ? seconds : 1e-9);
    pthread_mutex_unlock(&d->job->lock);
    return lost;
}

/* Computes some items of the part from part->first on, and advances part->first. */
static collet_status work_part(device *d, devices_span *part, collet_error *err)
{
    devices_job *job = d->job;
    const devices_work *w = &job->work;
    int64_t count = part->end - part->first;
    double began = now();
    collet_status status = w->compute(w->user, d->index, part->first, &count, err);
    if (status != COLLET_OK || count == 0) {
        part->first = status == COLLET_OK ? part->end : part->first;
        return status;
    }
    if (is_lost(d, count, now() - began)) {
        part->first = part->end;
        return COLLET_OK;
    }
    double waited = -now();
    int state = wait_until_delivered(d, part->first);
    waited += now();
    if (state == STOPPED || state == GIVEN_UP)
        return COLLET_CANCELLED;
    if (state == NO_ROOM)
        return collet_fail(err, COLLET_NO_MEMORY, "no memory for parts of a job");
    status = w->read(w->user, d->index, part->first, count, err);
    if (status != COLLET_OK)
        return status;
    double seconds = now() - began - waited;
    pthread_mutex_lock(&job->lock);
    devices_spans_add(&d->results, part->first, part->first + count);
    part->first += count;
    d->part = *part;
    d->done += count;
    d->seconds += seconds;
    d->rate = (double)count / (seconds > 1e-9 ? seconds : 1e-9);
    pthread_cond_broadcast(&job->changed);
    pthread_mutex_unlock(&job->lock);
    return COLLET_OK;
}

/* 1: an error of this device; other devices may go on. Errors of data and files would be the same on every device, so
 * they end the job. */
static int is_of_device(collet_status status)
{
    return status == COLLET_NO_MEMORY || status == COLLET_UNAVAILABLE ||
           status == COLLET_UNSUPPORTED || status == COLLET_REFUSED || status == COLLET_FAILED ||
           status == COLLET_DEVICE_LOST;
}

static int all_failed(const devices_job *job)
{
    for (int64_t i = 0; i < job->work.n_devices; i++)
        if (!job->device[i].failed)
            return 0;
    return 1;
}

/* The device gets no more parts. */
static void fail_device(device *d, collet_status status, const collet_error *err)
{
    devices_job *job = d->job;
    d->failed = 1;
    collet_fail(&d->error, status, "%s", err->text);
    if (job->first_error.status == COLLET_OK)
        job->first_error = d->error;
    if (all_failed(job)) {
        job->error = job->first_error;
        job->stop = 1;
    }
}

/* Notes how a part ended, with the lock held. 1: the device goes on. */
static int end_part(device *d, devices_span part, collet_status status, const collet_error *err)
{
    devices_job *job = d->job;
    int64_t end = part.end < job->work.count ? part.end : job->work.count;
    int room = devices_spans_reserve(&job->again, 1);
    job->busy--;
    part.first = d->lost ? end : part.first;
    d->part = (devices_span){0, 0};
    d->lost = 0;
    if (room)
        devices_spans_add(&job->again, part.first, end);
    if (!room && part.first < end && !job->stop)
        collet_fail(&job->error, COLLET_NO_MEMORY, "no memory for parts of a job");
    else if (is_of_device(status) && !d->asked)
        fail_device(d, status, err);
    else if (status != COLLET_OK && (status != COLLET_CANCELLED || d->asked) && !job->stop)
        collet_fail(&job->error, status, "%s", err->text);
    job->stop |= job->error.status != COLLET_OK;
    return !job->stop && !d->failed;
}

static void *run(void *user)
{
    device *d = user;
    devices_job *job = d->job;
    int more = 1;
    while (more) {
        devices_span part = take(d);
        collet_status status = COLLET_OK;
        collet_error err = {0};
        if (part.first == part.end)
            break;
        while (status == COLLET_OK && part.first < part.end)
            status = work_part(d, &part, &err);
        pthread_mutex_lock(&job->lock);
        more = end_part(d, part, status, &err);
        pthread_cond_broadcast(&job->changed);
        pthread_mutex_unlock(&job->lock);
    }
    return NULL;
}

/* ---- The caller's thread --------------------------------------------------------------------- */

void devices_stop(devices_job *job)
{
    pthread_mutex_lock(&job->lock);
    job->stop = 1;
    pthread_cond_broadcast(&job->changed);
    pthread_mutex_unlock(&job->lock);
    for (int64_t i = 0; i < job->work.n_devices; i++) {
        device *d = &job->device[i];
        if (d->running)
            pthread_join(d->thread, NULL);
        d->running = 0;
        d->lost = 0;
        d->part = (devices_span){0, 0};
        d->results.count = 0;
    }
    job->taken = job->next;
    job->again.count = 0;
    job->requests = NULL;
}

static int is_running(const devices_job *job)
{
    for (int64_t i = 0; i < job->work.n_devices; i++)
        if (job->device[i].running)
            return 1;
    return 0;
}

static collet_status start(devices_job *job, collet_error *err)
{
    job->stop = 0;
    job->busy = 0;
    for (int64_t i = 0; i < job->work.n_devices; i++) {
        device *d = &job->device[i];
        if (d->failed)
            continue;
        if (io_thread_start(&d->thread, run, d) != 0) {
            devices_stop(job);
            return collet_fail(err, COLLET_NO_MEMORY,
                               "a thread for the device %s cannot be started", d->name);
        }
        d->running = 1;
    }
    return COLLET_OK;
}

/* Calls the function for which a device waits. */
static void serve(devices_job *job)
{
    request *r = job->requests;
    job->requests = r->next;
    r->taken = 1;
    pthread_mutex_unlock(&job->lock);
    collet_status status = r->function(r->argument, r->err);
    pthread_mutex_lock(&job->lock);
    r->status = status;
    r->done = 1;
    pthread_cond_broadcast(&job->changed);
}

/* Reports the ticks since the last report; 1 if the program cancels. */
static int report(devices_job *job)
{
    int64_t ticks = job->reported = job->ticks, next = job->next;
    pthread_mutex_unlock(&job->lock);
    int cancelled = job->work.report(job->work.user, ticks, next) != 0;
    pthread_mutex_lock(&job->lock);
    return cancelled;
}

/* Returns the device that has the result of `item`; sets *end to the end of that span of results. */
static device *device_with(devices_job *job, int64_t item, int64_t *end)
{
    for (int64_t i = 0; i < job->work.n_devices; i++) {
        const devices_spans *results = &job->device[i].results;
        for (int64_t k = 0; k < results->count; k++)
            if (item >= results->list[k].first && item < results->list[k].end) {
                *end = results->list[k].end;
                return &job->device[i];
            }
    }
    return NULL;
}

/* Drops the results that the last devices_next returned: the caller no longer needs them. */
static void drop_delivered(devices_job *job)
{
    for (int64_t i = 0; i < job->work.n_devices; i++) {
        devices_spans *results = &job->device[i].results;
        while (results->count && results->list->end <= job->next)
            devices_spans_take(results, INT64_MAX);
    }
    pthread_cond_broadcast(&job->changed);
}

/* Waits until a device has the next item, and returns the device; called with the lock held. NULL: the
 * job was cancelled or failed, or no item is left. */
static device *wait_for_item(devices_job *job, int64_t *end)
{
    while (!job->stop && job->next < job->work.count) {
        device *found;
        if (job->requests)
            serve(job);
        else if (job->reported < job->ticks && job->work.report) {
            if (report(job))
                return NULL;
        } else if ((found = device_with(job, job->next, end)) != NULL)
            return found;
        else
            pthread_cond_wait(&job->changed, &job->lock);
    }
    return NULL;
}

collet_status devices_next(devices_job *job, int64_t most, int64_t *index, int64_t *first,
                           int64_t *count, collet_error *err)
{
    collet_status status = COLLET_OK;
    int64_t end = 0;
    *count = 0;
    if (job->error.status != COLLET_OK)
        return collet_fail(err, job->error.status, "%s", job->error.text);
    if (!is_running(job) && job->next < job->work.count)
        status = start(job, err);
    if (status != COLLET_OK)
        return status;
    pthread_mutex_lock(&job->lock);
    drop_delivered(job);
    device *found = wait_for_item(job, &end);
    int ended = !found && job->next >= job->work.count && job->error.status == COLLET_OK;
    if (found) {
        *index = found->index;
        *first = job->next;
        *count = end - job->next < most ? end - job->next : most;
        job->next += *count;
    }
    pthread_mutex_unlock(&job->lock);
    if (found)
        return COLLET_OK;
    devices_stop(job);
    if (ended)
        return COLLET_OK;
    return job->error.status != COLLET_OK
               ? collet_fail(err, job->error.status, "%s", job->error.text)
               : collet_fail(err, COLLET_CANCELLED, "cancelled by the caller");
}

collet_status devices_share_at(devices_job *job, collet_device_share *share, size_t index)
{
    if (index >= (size_t)job->work.n_devices)
        return COLLET_NOT_FOUND;
    pthread_mutex_lock(&job->lock);
    const device *d = &job->device[index];
    const collet_device_share own = {.struct_size = sizeof own,
                                     .device = d->name,
                                     .done = d->done,
                                     .seconds = d->seconds,
                                     .error = d->failed ? d->error.text : NULL};
    pthread_mutex_unlock(&job->lock);
    io_struct_out(share, &own, sizeof own);
    return COLLET_OK;
}

/* ---- Creation -------------------------------------------------------------------------------- */

collet_status devices_create(devices_job **out, const devices_work *work, collet_error *err)
{
    devices_job *job = calloc(1, sizeof *job + (size_t)work->n_devices * sizeof *job->device);
    int named = job != NULL;
    pthread_condattr_t clock;
    *out = NULL;
    for (int64_t i = 0; named && i < work->n_devices; i++) {
        device *d = &job->device[i];
        d->job = job;
        d->index = i;
        d->name = strdup(collet_get_backend(work->contexts[i]));
        named = d->name && devices_spans_reserve(&d->results, work->depth + 1);
    }
    if (job) {
        job->work = *work;
        job->work.contexts = NULL;
        pthread_mutex_init(&job->lock, NULL);
        pthread_condattr_init(&clock);
        pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
        pthread_cond_init(&job->changed, &clock);
        pthread_condattr_destroy(&clock);
    }
    if (named)
        *out = job;
    else
        devices_destroy(job);
    return named ? COLLET_OK : collet_fail(err, COLLET_NO_MEMORY, "no memory for several devices");
}

void devices_destroy(devices_job *job)
{
    if (!job)
        return;
    devices_stop(job);
    for (int64_t i = 0; i < job->work.n_devices; i++) {
        free(job->device[i].name);
        free(job->device[i].results.list);
    }
    pthread_cond_destroy(&job->changed);
    pthread_mutex_destroy(&job->lock);
    free(job->again.list);
    free(job);
}
