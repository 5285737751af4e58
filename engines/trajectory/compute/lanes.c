/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_trajectory_devices.c, tests/tools/test_several_devices.c */
#include "lanes.h"

#include "devices/devices.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A batch whose sums are not yet delivered to the caller. */
typedef struct entry {
    const trajectory_batch *batch;
    double *sums[TRAJECTORY_SUMS]; /* NULL: not needed */
    int spoilt;                    /* 1: a device failed during the batch, and perhaps only it had the batch's arrays */
} entry;

typedef struct lane {
    trajectory_lanes *all;
    collet_context *context;
    trajectory_analysis *analysis; /* created for the first batch */
    entry *target;                 /* receives the results of the analysis */
    _Atomic int64_t frames;
} lane;

struct trajectory_lanes {
    trajectory_lanes_setup setup;
    devices_job *job;
    trajectory_feed *feed;
    double *reference; /* the first frame, if there is no other reference */
    entry *entries;    /* batch k is in entries[k % slots] */
    entry *given;      /* entry that the caller has; NULL: none */
    /* Only the caller's thread uses the following members, in `fetch`, which devices_ask calls, and in
     * trajectory_lanes_next. */
    int64_t fetched; /* number of batches read */
    int ended;       /* 1: reading ended; the next three members have the result */
    collet_status status;
    int32_t truncated;
    collet_error error;
    lane lane[];
};

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Returns how many numbers a buffer has for one frame. */
static int64_t width_of(const trajectory_analysis_setup *setup, int32_t buffer)
{
    return trajectory_buffer_width(buffer) *
           trajectory_buffer_rows(buffer, (trajectory_extent){setup->bodies, setup->n_atoms});
}

/* ---- Batches, on the caller's thread ----------------------------------------------------- */

/* If no reference is given, the first frame is the reference. */
static collet_status take_reference(trajectory_lanes *all, const trajectory_frames *frames,
                                    collet_error *err)
{
    trajectory_analysis_setup *setup = &all->setup.analysis;

    if (setup->reference != NULL || !(setup->buffers & TRAJECTORY_BUFFER_BIT(TRAJECTORY_RMSD)))
        return COLLET_OK;
    all->reference = malloc((size_t)(3 * frames->n_atoms) * sizeof *all->reference);
    if (all->reference == NULL)
        return collet_fail(err, COLLET_NO_MEMORY, "analysis: out of memory");
    for (int64_t i = 0; i < 3 * frames->n_atoms; i++)
        all->reference[i] = trajectory_frames_value(frames, frames->positions, i);
    setup->reference = all->reference;
    return COLLET_OK;
}

static collet_status take_batch(trajectory_lanes *all, const trajectory_batch *batch,
                                collet_error *err)
{
    entry *e = &all->entries[all->fetched % all->setup.slots];
    collet_status status = all->setup.read(all->setup.user, batch->frames, err);

    if (status == COLLET_OK && all->fetched == 0)
        status = take_reference(all, batch->frames, err);
    e->batch = batch;
    e->spoilt = 0;
    all->fetched++;
    return status;
}

/* A batch that a device asks for. */
typedef struct request {
    trajectory_lanes *all;
    int64_t number;
    int found; /* result: 1 if the batch exists */
} request;

/* Reads batches up to the requested batch, or to the end of the trajectory. */
static collet_status fetch(void *argument, collet_error *err)
{
    request *r = argument;
    trajectory_lanes *all = r->all;
    entry *e = &all->entries[r->number % all->setup.slots];
    collet_status status = COLLET_OK;

    while (status == COLLET_OK && all->fetched <= r->number && !all->ended) {
        const trajectory_batch *batch;

        all->status = trajectory_feed_take(all->feed, &batch, &all->truncated, &all->error);
        if (batch != NULL) {
            status = take_batch(all, batch, err);
            continue;
        }
        all->ended = 1;
        devices_end(all->job, all->fetched);
        if (all->status == COLLET_CANCELLED)
            status = collet_fail(err, COLLET_CANCELLED, "%s", all->error.text);
    }
    r->found = r->number < all->fetched;
    if (status == COLLET_OK && r->found && e->spoilt) {
        e->spoilt = 0;
        status = trajectory_feed_renew(all->feed, e->batch, err);
    }
    return status;
}

/* ---- On a device's thread ---------------------------------------------------------------- */

/* The analysis calls this function on its own thread, while the device's thread waits. */
static collet_status keep_sums(void *user, int32_t buffer, int64_t n, const double *rows,
                               collet_error *err)
{
    const lane *l = user;
    size_t bytes = (size_t)(n * width_of(&l->all->setup.analysis, buffer)) * sizeof *rows;

    (void)err;
    for (size_t i = 0; i < TRAJECTORY_SUMS; i++)
        if (trajectory_sums[i].buffer == buffer && l->target->sums[i] != NULL)
            memcpy(l->target->sums[i], rows, bytes);
    return COLLET_OK;
}

static collet_status open_analysis(lane *l, collet_error *err)
{
    trajectory_analysis_setup setup = l->all->setup.analysis;

    if (l->analysis != NULL)
        return COLLET_OK;
    setup.block_frames = l->all->setup.batch_frames;
    setup.sums_only = 1;
    setup.emit = keep_sums;
    setup.user = l;
    return trajectory_analysis_create(l->context, &setup, &l->analysis, err);
}

/* Computes the sums of a batch. */
static collet_status run(lane *l, entry *e, const trajectory_batch *batch, collet_error *err)
{
    collet_error own;
    collet_status status = open_analysis(l, &own);

    l->target = e;
    if (status == COLLET_OK)
        status = trajectory_analysis_add(l->analysis, batch, &own);
    if (status == COLLET_OK)
        status = trajectory_analysis_finish(l->analysis, &own);
    return status == COLLET_OK
               ? status
               : collet_fail(err, status, "%s: %s", collet_get_backend(l->context), own.text);
}

static collet_status compute(void *user, int64_t device, int64_t first, int64_t *count,
                             collet_error *err)
{
    trajectory_lanes *all = user;
    lane *l = &all->lane[device];
    request wanted = {all, first, 0};
    collet_status status = devices_ask(all->job, device, fetch, &wanted, err);

    if (status != COLLET_OK)
        return status;
    *count = wanted.found;
    if (*count == 0)
        return COLLET_OK;
    entry *e = &all->entries[first % all->setup.slots];
    e->spoilt = 1;
    status = run(l, e, e->batch, err);
    if (status != COLLET_OK)
        return status;
    e->spoilt = 0;
    atomic_fetch_add(&l->frames, e->batch->frames->n_frames);
    return devices_tick(all->job) ? collet_fail(err, COLLET_CANCELLED, "cancelled") : COLLET_OK;
}

/* The sums are in the batch's entry already. */
static collet_status keep(void *user, int64_t device, int64_t first, int64_t count,
                          collet_error *err)
{
    (void)user;
    (void)device;
    (void)first;
    (void)count;
    (void)err;
    return COLLET_OK;
}

static int report(void *user, int64_t ticks, int64_t next)
{
    const trajectory_lanes *all = user;

    (void)ticks;
    (void)next;
    return all->setup.ask(all->setup.user) != 0;
}

/* ---- The caller -------------------------------------------------------------------------- */

static int create_entries(trajectory_lanes *all)
{
    const trajectory_analysis_setup *setup = &all->setup.analysis;
    uint64_t sums = trajectory_buffers_summed(trajectory_buffers_for(setup->buffers));
    int done = 1;

    all->entries = calloc((size_t)all->setup.slots, sizeof *all->entries);
    for (int64_t k = 0; done && all->entries != NULL && k < all->setup.slots; k++)
        for (size_t i = 0; done && i < TRAJECTORY_SUMS; i++) {
            int32_t buffer = trajectory_sums[i].buffer;

            if (!(sums & TRAJECTORY_BUFFER_BIT(buffer)))
                continue;
            all->entries[k].sums[i] = malloc(
                (size_t)(all->setup.batch_frames * width_of(setup, buffer)) * sizeof(double));
            done = all->entries[k].sums[i] != NULL;
        }
    return done && all->entries != NULL;
}

collet_status trajectory_lanes_create(const trajectory_lanes_setup *setup, trajectory_lanes **out,
                                      collet_error *err)
{
    trajectory_lanes *all = *out = calloc(1, sizeof *all + (size_t)setup->n * sizeof *all->lane);
    const devices_work work = {.n_devices = setup->n,
                               .contexts = setup->contexts,
                               .count = INT64_MAX,
                               .most = 1,
                               .depth = setup->slots,
                               .window = setup->slots - TRAJECTORY_LANES_AHEAD,
                               .user = all,
                               .compute = compute,
                               .read = keep,
                               .report = report};

    if (all != NULL) {
        all->setup = *setup;
        for (int64_t i = 0; i < setup->n; i++) {
            all->lane[i].all = all;
            all->lane[i].context = setup->contexts[i];
        }
    }
    collet_status status = all != NULL && create_entries(all)
                               ? devices_create(&all->job, &work, err)
                               : collet_fail(err, COLLET_NO_MEMORY, "analysis: out of memory");
    if (status == COLLET_OK)
        return status;
    trajectory_lanes_free(all);
    *out = NULL;
    return status;
}

void trajectory_lanes_feed(trajectory_lanes *all, trajectory_feed *feed)
{
    all->feed = feed;
}

collet_status trajectory_lanes_next(trajectory_lanes *all, int64_t *n, const double *const **sums,
                                    int32_t *truncated, collet_error *err)
{
    int64_t device, first, count;
    collet_status status = COLLET_OK;

    *n = 0;
    *truncated = 0;
    if (all->given != NULL)
        status = trajectory_feed_give(all->feed, all->given->batch, err);
    all->given = NULL;
    if (status == COLLET_OK)
        status = devices_next(all->job, 1, &device, &first, &count, err);
    if (status != COLLET_OK)
        return status;
    if (count == 0) {
        *truncated = all->truncated;
        return all->status == COLLET_OK ? COLLET_OK
                                        : collet_fail(err, all->status, "%s", all->error.text);
    }
    all->given = &all->entries[first % all->setup.slots];
    *n = all->given->batch->frames->n_frames;
    *sums = (const double *const *)all->given->sums;
    return COLLET_OK;
}

collet_status trajectory_lanes_measure(trajectory_lanes *all, int64_t device,
                                       const trajectory_batch *batch, collet_device_share *share,
                                       collet_error *err)
{
    lane *l = &all->lane[device];
    collet_status status = take_reference(all, batch->frames, err);

    *share = (collet_device_share){.struct_size = sizeof *share,
                                   .device = collet_get_backend(l->context),
                                   .done = batch->frames->n_frames};
    for (int time = 0; time < 2 && status == COLLET_OK; time++) {
        double began = now();

        status = run(l, &all->entries[0], batch, err);
        share->seconds = now() - began;
    }
    return status;
}

uint64_t trajectory_lanes_bytes(const trajectory_analysis_setup *setup, int64_t batch_frames)
{
    uint64_t sums = trajectory_buffers_summed(trajectory_buffers_for(setup->buffers)), all = 0;

    for (size_t i = 0; i < TRAJECTORY_SUMS; i++)
        if (sums & TRAJECTORY_BUFFER_BIT(trajectory_sums[i].buffer))
            all += (uint64_t)(batch_frames * width_of(setup, trajectory_sums[i].buffer));
    return all * sizeof(double);
}

collet_status trajectory_lanes_share(const trajectory_lanes *all, collet_device_share *share,
                                     size_t index)
{
    collet_status status = devices_share_at(all->job, share, index);

    if (status == COLLET_OK)
        share->done = atomic_load(&all->lane[index].frames);
    return status;
}

void trajectory_lanes_add_notes(const trajectory_lanes *all, trajectory_analysis_notes *notes)
{
    for (int64_t i = 0; i < all->setup.n; i++)
        if (all->lane[i].analysis != NULL)
            trajectory_analysis_add_notes(all->lane[i].analysis, notes);
}

void trajectory_lanes_stop(trajectory_lanes *all)
{
    if (all == NULL)
        return;
    if (all->job != NULL)
        devices_stop(all->job);
    for (int64_t i = 0; i < all->setup.n; i++) {
        trajectory_analysis_free(all->lane[i].analysis);
        all->lane[i].analysis = NULL;
    }
    for (int64_t k = 0; all->entries != NULL && k < all->setup.slots; k++)
        for (size_t i = 0; i < TRAJECTORY_SUMS; i++)
            free(all->entries[k].sums[i]);
    free(all->entries);
    free(all->reference);
    all->entries = NULL;
    all->reference = NULL;
}

void trajectory_lanes_free(trajectory_lanes *all)
{
    if (all == NULL)
        return;
    trajectory_lanes_stop(all);
    devices_destroy(all->job);
    free(all);
}
