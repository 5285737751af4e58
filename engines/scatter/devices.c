/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each device that is free takes the next block of energies from a common counter; the caller gets
 * the patterns in order. While the caller reads a block of a device, the device computes its next
 * one. The program's callbacks run only on the caller's thread: a device's thread queues a request.
 * Tests: tests/engines/scatter/test_scatter_devices.c
 */
#include "scatter/devices.h"

#include <inttypes.h>
#include <stdlib.h>

#include "io/thread.h"
#include "scatter/one.h"

/* A request for layers, for which a device's thread waits. */
typedef struct request {
    int64_t material, first, count;
    void *const *arrays;
    collet_error *err;
    collet_status status;
    int taken, done;
    struct request *next;
} request;

typedef struct device {
    scatter_devices *all;
    collet_scattering *s;
    pthread_t thread;
    int running;
    int64_t first, ready; /* energies first .. ready-1 are in s->values; `lock` guards both */
} device;

struct scatter_devices {
    collet_scattering_options options; /* only callbacks and n_energies are used */
    collet_scattering_plan plan;
    int64_t count; /* number of devices */
    int64_t unit;  /* energies that a device takes at a time */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* `lock` guards the following members. */
    int64_t taken; /* energies that devices have taken */
    int64_t next;  /* energy whose pattern the caller gets next */
    int64_t steps, steps_total, reported;
    const char *stage;
    int stop;
    request *requests;
    collet_error error;
    device device[];
};

/* ---- A device's thread ----------------------------------------------------------------------- */

/* The progress callback of a device's scattering: counts a step; the caller's thread reports it. */
static int32_t note_step(void *user, const collet_scattering_progress *progress)
{
    scatter_devices *all = ((device *)user)->all;
    pthread_mutex_lock(&all->lock);
    all->steps++;
    all->stage = progress->stage;
    int stop = all->stop;
    pthread_cond_broadcast(&all->changed);
    pthread_mutex_unlock(&all->lock);
    return stop;
}

/* The layers callback of a device's scattering: waits until the caller's thread has called the
 * program's callback. */
static collet_status ask_layers(void *user, void *const *arrays, int64_t material, int64_t first,
                                int64_t count, collet_error *err)
{
    scatter_devices *all = ((device *)user)->all;
    request own = {.material = material,
                   .first = first,
                   .count = count,
                   .arrays = arrays,
                   .err = err,
                   .status = COLLET_CANCELLED};
    pthread_mutex_lock(&all->lock);
    own.next = all->requests;
    all->requests = &own;
    pthread_cond_broadcast(&all->changed);
    while (!own.done && (own.taken || !all->stop))
        pthread_cond_wait(&all->changed, &all->lock);
    for (request **at = &all->requests; !own.taken && *at; at = &(*at)->next)
        if (*at == &own) {
            *at = own.next;
            break;
        }
    pthread_mutex_unlock(&all->lock);
    return own.done ? own.status : collet_fail(err, COLLET_CANCELLED, "cancelled by the caller");
}

/* Takes the next energies for the device: *first and their number; 0: none remain. */
static int64_t take(device *d, int64_t *first)
{
    scatter_devices *all = d->all;
    pthread_mutex_lock(&all->lock);
    int64_t end = (all->taken / all->unit + 1) * all->unit;
    *first = all->taken;
    if (end > all->options.n_energies)
        end = all->options.n_energies;
    if (!all->stop)
        all->taken = end;
    int64_t count = all->taken - *first;
    pthread_mutex_unlock(&all->lock);
    return count;
}

/* Waits until the caller has read the patterns of the last block. 0: the work was stopped. */
static int wait_until_read(device *d)
{
    pthread_mutex_lock(&d->all->lock);
    while (d->ready > d->first && !d->all->stop)
        pthread_cond_wait(&d->all->changed, &d->all->lock);
    int stop = d->all->stop;
    pthread_mutex_unlock(&d->all->lock);
    return !stop;
}

static collet_status work_block(device *d, int64_t end)
{
    collet_scattering *s = d->s;
    int64_t count;
    collet_status status = scatter_compute(s, end - s->next, &count);
    if (status == COLLET_OK && !wait_until_read(d))
        return COLLET_CANCELLED;
    if (status == COLLET_OK)
        status = scatter_read(s, count);
    if (status != COLLET_OK)
        return status;
    pthread_mutex_lock(&d->all->lock);
    d->first = s->next;
    d->ready = s->next += count;
    pthread_cond_broadcast(&d->all->changed);
    pthread_mutex_unlock(&d->all->lock);
    return COLLET_OK;
}

static void *work(void *user)
{
    device *d = user;
    scatter_devices *all = d->all;
    collet_status status = COLLET_OK;
    int64_t first, count;
    while (status == COLLET_OK && (count = take(d, &first)) > 0) {
        d->s->next = first;
        while (status == COLLET_OK && d->s->next < first + count)
            status = work_block(d, first + count);
    }
    pthread_mutex_lock(&all->lock);
    if (status != COLLET_OK && status != COLLET_CANCELLED && !all->stop)
        collet_fail(&all->error, status, "%s", d->s->error.text);
    all->stop |= status != COLLET_OK;
    pthread_cond_broadcast(&all->changed);
    pthread_mutex_unlock(&all->lock);
    return NULL;
}

/* ---- The caller's thread --------------------------------------------------------------------- */

/* Ends the threads. Patterns that the caller has not got are computed again after the next
 * start. */
static void stop(scatter_devices *all)
{
    pthread_mutex_lock(&all->lock);
    all->stop = 1;
    pthread_cond_broadcast(&all->changed);
    pthread_mutex_unlock(&all->lock);
    for (int64_t i = 0; i < all->count; i++) {
        device *d = &all->device[i];
        if (d->running)
            pthread_join(d->thread, NULL);
        d->running = 0;
        d->first = d->ready = 0;
    }
    all->taken = all->next;
    all->requests = NULL;
}

static collet_status start(scatter_devices *all, collet_error *err)
{
    all->stop = 0;
    for (int64_t i = 0; i < all->count; i++) {
        device *d = &all->device[i];
        if (!d->running && io_thread_start(&d->thread, work, d) != 0) {
            stop(all);
            return collet_fail(err, COLLET_NO_MEMORY,
                               "a thread for the device %s cannot be started",
                               collet_get_backend(d->s->context));
        }
        d->running = 1;
    }
    return COLLET_OK;
}

/* Calls the program's callback for a waiting device. */
static void serve(scatter_devices *all)
{
    request *r = all->requests;
    all->requests = r->next;
    r->taken = 1;
    pthread_mutex_unlock(&all->lock);
    collet_status status = all->options.layers(all->options.layers_user, r->arrays, r->material,
                                               r->first, r->count, r->err);
    pthread_mutex_lock(&all->lock);
    r->status = status;
    r->done = 1;
    pthread_cond_broadcast(&all->changed);
}

/* Reports the steps since the last report; 1 if the program cancels. */
static int report(scatter_devices *all)
{
    collet_scattering_progress progress = {.struct_size = sizeof progress,
                                           .energies = all->next,
                                           .fraction =
                                               (double)all->steps / (double)all->steps_total,
                                           .stage = all->stage};
    if (progress.fraction > 1.0)
        progress.fraction = 1.0;
    all->reported = all->steps;
    pthread_mutex_unlock(&all->lock);
    int cancelled = all->options.progress(all->options.progress_user, &progress) != 0;
    pthread_mutex_lock(&all->lock);
    return cancelled;
}

static device *device_with(scatter_devices *all, int64_t energy)
{
    for (int64_t i = 0; i < all->count; i++)
        if (energy >= all->device[i].first && energy < all->device[i].ready)
            return &all->device[i];
    return NULL;
}

/* Waits for the device that has the next pattern; called with the lock held. NULL: cancelled or
 * failed. */
static device *wait_for_pattern(scatter_devices *all)
{
    while (!all->stop) {
        device *found;
        if (all->requests)
            serve(all);
        else if (all->reported < all->steps && all->options.progress) {
            if (report(all))
                return NULL;
        } else if ((found = device_with(all, all->next)) != NULL)
            return found;
        else
            pthread_cond_wait(&all->changed, &all->lock);
    }
    return NULL;
}

collet_status scatter_devices_next(scatter_devices *all, const collet_scattering_pattern **out,
                                   collet_error *err)
{
    collet_status status = COLLET_OK;
    *out = NULL;
    if (all->error.status != COLLET_OK)
        return collet_fail(err, all->error.status, "%s", all->error.text);
    if (all->device[0].running == 0 && all->next < all->options.n_energies)
        status = start(all, err);
    if (status != COLLET_OK)
        return status;
    pthread_mutex_lock(&all->lock);
    for (int64_t i = 0; i < all->count; i++) {
        device *d = &all->device[i];
        if (d->ready == all->next) /* the caller has read the last pattern of its block */
            d->first = d->ready;
    }
    pthread_cond_broadcast(&all->changed);
    if (all->next == all->options.n_energies) {
        pthread_mutex_unlock(&all->lock);
        stop(all);
        return COLLET_OK;
    }
    device *found = wait_for_pattern(all);
    if (found)
        *out = scatter_pattern(found->s, all->next++);
    pthread_mutex_unlock(&all->lock);
    if (found)
        return COLLET_OK;
    stop(all);
    return all->error.status != COLLET_OK
               ? collet_fail(err, all->error.status, "%s", all->error.text)
               : collet_fail(err, COLLET_CANCELLED, "cancelled by the caller");
}

const collet_scattering_plan *scatter_devices_plan(const scatter_devices *all)
{
    return &all->plan;
}

/* Checks that no context is NULL or given twice. */
static collet_status check_contexts(collet_context *context,
                                    const collet_scattering_options *options, collet_error *err)
{
    if (options->n_contexts < 0 || options->n_contexts > INT16_MAX || !options->contexts)
        return collet_fail(
            err, COLLET_INVALID, "contexts: n_contexts is %" PRId64 "%s; it must be 0 to %d",
            options->n_contexts, options->contexts ? "" : ", but contexts is NULL", INT16_MAX);
    for (int64_t i = 0; i < options->n_contexts; i++) {
        int known = !options->contexts[i] || options->contexts[i] == context;
        for (int64_t k = 0; k < i; k++)
            known |= options->contexts[i] == options->contexts[k];
        if (known)
            return collet_fail(err, COLLET_INVALID, "contexts[%" PRId64 "] is %s", i,
                               options->contexts[i] ? "given twice; give each context once"
                                                    : "NULL");
    }
    return COLLET_OK;
}

/* With several passes, all energies of a pass go to one device, which makes their slices; with one
 * pass each device makes the slices. */
static void plan(scatter_devices *all)
{
    const collet_scattering *s = all->device[0].s;
    int64_t energies = all->options.n_energies;
    int64_t alike = s->plan.passes > 1 ? 1 : all->count;
    int64_t transforming = s->steps_total - energies * (s->span ? 1 : s->angles);
    all->plan = s->plan;
    all->unit = s->plan.passes > 1 ? s->span : s->plan.block;
    all->steps_total = s->steps_total + (alike - 1) * transforming;
    if (s->options.method == COLLET_SCATTERING_FAST)
        all->plan.transforms *= alike;
}

collet_status scatter_devices_open(collet_context *context,
                                   const collet_scattering_options *options, scatter_devices **out,
                                   collet_error *err)
{
    int64_t count = 1 + options->n_contexts;
    collet_status status = check_contexts(context, options, err);
    *out = NULL;
    if (status != COLLET_OK)
        return status;
    scatter_devices *all = calloc(1, sizeof *all + (size_t)count * sizeof *all->device);
    if (!all)
        return collet_fail(err, COLLET_NO_MEMORY, "no memory for a scattering");
    all->options = *options;
    all->count = count;
    pthread_mutex_init(&all->lock, NULL);
    pthread_cond_init(&all->changed, NULL);
    for (int64_t i = 0; i < count && status == COLLET_OK; i++) {
        device *d = &all->device[i];
        collet_scattering_options own = *options;
        own.progress = note_step;
        own.progress_user = d;
        own.layers = options->layers ? ask_layers : NULL;
        own.layers_user = d;
        d->all = all;
        status = scatter_open_one(i ? options->contexts[i - 1] : context, &own, count, &d->s, err);
    }
    if (status != COLLET_OK) {
        scatter_devices_close(all);
        return status;
    }
    plan(all);
    *out = all;
    return status;
}

void scatter_devices_close(scatter_devices *all)
{
    if (!all)
        return;
    stop(all);
    for (int64_t i = 0; i < all->count; i++)
        scatter_close_one(all->device[i].s);
    pthread_cond_destroy(&all->changed);
    pthread_mutex_destroy(&all->lock);
    free(all);
}
