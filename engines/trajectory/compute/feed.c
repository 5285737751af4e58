/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_trajectory_analysis.c */
#include "feed.h"

#include <stdlib.h>

#define FIELDS 4 /* positions, velocities, forces, masses */

/* The arrays that wrap one slot. The arrays are acquired while the reading thread may write the slot, so that no
 * kernel can use them. They are released while the caller has the batch. */
typedef struct slot {
    collet_array *whole[FIELDS];
    int acquired[FIELDS];
    collet_array *views[FIELDS]; /* shorter arrays of a batch that does not fill the slot */
    trajectory_batch batch;      /* batch.frames is NULL unless the caller has the batch */
} slot;

struct trajectory_feed {
    collet_context *context;
    trajectory_readahead *ahead;
    slot slots[TRAJECTORY_READAHEAD_SLOTS];
    int32_t n_slots;
    const trajectory_batch *last; /* the last batch that trajectory_feed_next returned */
};

static collet_status context_failed(const trajectory_feed *feed, collet_status status,
                                    collet_error *err)
{
    return collet_fail(err, status, "%s", collet_last_error(feed->context));
}

/* acquire = 1: waits for the kernels that use the slot's arrays and prevents new kernels; 0: allows kernels again. */
static collet_status slot_set(trajectory_feed *feed, slot *s, int acquire, collet_error *err)
{
    for (int i = 0; i < FIELDS; i++) {
        void *address;
        collet_status status;

        if (s->whole[i] == NULL || s->acquired[i] == acquire)
            continue;
        status = acquire ? collet_array_acquire(feed->context, s->whole[i], &address, COLLET_WRITE)
                         : collet_array_release(feed->context, s->whole[i]);
        if (status != COLLET_OK)
            return context_failed(feed, status, err);
        s->acquired[i] = acquire;
    }
    return COLLET_OK;
}

/* Wraps a slot in arrays and acquires them. */
static collet_status slot_wrap(trajectory_feed *feed, slot *s, const trajectory_frames *frames,
                               collet_error *err)
{
    void *data[FIELDS] = {frames->positions, frames->velocities, frames->forces, frames->masses};
    int64_t shape[3] = {frames->capacity, frames->n_atoms, 3};

    for (int i = 0; i < FIELDS; i++) {
        collet_status status;

        if (data[i] == NULL)
            continue;
        status = collet_array_wrap(
            feed->context, &s->whole[i], data[i] == frames->masses ? COLLET_F64 : frames->dtype,
            data[i] == frames->masses ? 2 : 3, shape, NULL, data[i], 0, NULL, NULL);
        if (status != COLLET_OK)
            return context_failed(feed, status, err);
    }
    return COLLET_OK;
}

collet_status trajectory_feed_start(collet_context *context, trajectory_reader *trajectory,
                                    const trajectory_readahead_options *options,
                                    trajectory_feed **out, collet_error *err)
{
    trajectory_feed *feed = calloc(1, sizeof *feed);
    collet_status status;

    *out = NULL;
    if (feed == NULL)
        return collet_fail(err, COLLET_NO_MEMORY, "read-ahead: out of memory");
    feed->context = context;
    feed->n_slots = options->n_slots;
    status = trajectory_readahead_create(trajectory, options, &feed->ahead, err);
    for (int32_t i = 0; status == COLLET_OK && i < feed->n_slots; i++) {
        status = slot_wrap(feed, &feed->slots[i], trajectory_readahead_slot(feed->ahead, i), err);
        if (status == COLLET_OK)
            status = slot_set(feed, &feed->slots[i], 1, err);
    }
    if (status == COLLET_OK) /* the read-ahead writes the slots */
        status = trajectory_readahead_start(feed->ahead, err);
    if (status != COLLET_OK) {
        trajectory_feed_stop(feed);
        return status;
    }
    *out = feed;
    return COLLET_OK;
}

static void views_free(slot *s)
{
    for (int i = 0; i < FIELDS; i++) {
        collet_array_destroy(s->views[i]);
        s->views[i] = NULL;
    }
}

/* Sets the arrays of the slot's batch: views of the frames that were read, or the whole arrays if the slot is full. */
static collet_status fill_batch(trajectory_feed *feed, slot *s, const trajectory_frames *frames,
                                collet_error *err)
{
    collet_array *fields[FIELDS];

    for (int i = 0; i < FIELDS; i++) {
        collet_status status;

        fields[i] = s->whole[i];
        if (s->whole[i] == NULL || frames->n_frames == frames->capacity)
            continue;
        status =
            collet_array_slice(feed->context, s->whole[i], &s->views[i], 0, 0, frames->n_frames, 1);
        if (status != COLLET_OK)
            return context_failed(feed, status, err);
        fields[i] = s->views[i];
    }
    s->batch = (trajectory_batch){frames, fields[0], fields[1], fields[2], fields[3]};
    return COLLET_OK;
}

collet_status trajectory_feed_take(trajectory_feed *feed, const trajectory_batch **out,
                                   int32_t *truncated, collet_error *err)
{
    const trajectory_frames *frames;
    collet_status status;

    *out = NULL;
    *truncated = 0;
    status = trajectory_readahead_take(feed->ahead, &frames, truncated, err);
    if (status != COLLET_OK || frames == NULL)
        return status;
    slot *s = &feed->slots[frames->slot];
    status = slot_set(feed, s, 0, err);
    if (status == COLLET_OK)
        status = fill_batch(feed, s, frames, err);
    if (status == COLLET_OK)
        *out = &s->batch;
    return status;
}

collet_status trajectory_feed_give(trajectory_feed *feed, const trajectory_batch *batch,
                                   collet_error *err)
{
    slot *s = &feed->slots[batch->frames->slot];

    views_free(s);
    s->batch = (trajectory_batch){.frames = NULL};
    collet_status status = slot_set(feed, s, 1, err);
    if (status == COLLET_OK)
        trajectory_readahead_give(feed->ahead, 1);
    return status;
}

collet_status trajectory_feed_renew(trajectory_feed *feed, const trajectory_batch *batch,
                                    collet_error *err)
{
    const trajectory_frames *frames = batch->frames;
    slot *s = &feed->slots[frames->slot];

    views_free(s);
    for (int i = 0; i < FIELDS; i++) {
        collet_array_destroy(s->whole[i]);
        s->whole[i] = NULL;
    }
    collet_status status =
        slot_wrap(feed, s, trajectory_readahead_slot(feed->ahead, frames->slot), err);
    return status == COLLET_OK ? fill_batch(feed, s, frames, err) : status;
}

collet_status trajectory_feed_next(trajectory_feed *feed, const trajectory_batch **out,
                                   int32_t *truncated, collet_error *err)
{
    collet_status status = COLLET_OK;

    *out = NULL;
    *truncated = 0;
    if (feed->last != NULL) /* waits for the kernels that use this batch */
        status = trajectory_feed_give(feed, feed->last, err);
    feed->last = NULL;
    if (status == COLLET_OK)
        status = trajectory_feed_take(feed, &feed->last, truncated, err);
    *out = feed->last;
    return status;
}

void trajectory_feed_stop(trajectory_feed *feed)
{
    if (feed == NULL)
        return;
    for (int32_t i = 0; i < feed->n_slots; i++) {
        views_free(&feed->slots[i]);
        /* The arrays stay acquired until they are destroyed, because threads still write the slot. */
        for (int j = 0; j < FIELDS; j++)
            collet_array_destroy(feed->slots[i].whole[j]);
    }
    trajectory_readahead_stop(feed->ahead);
    free(feed);
}
