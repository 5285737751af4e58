/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_io_readahead.c */
#include "readahead.h"

#include "io/thread.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WAIT_NS 50000000

/*
 * A ring of slots: the thread fills them in order, `next` returns them in order. `used` slots from
 * `first` on are filled; the caller may have the batch of slot `first`.
 */
struct trajectory_readahead {
    trajectory_reader *trajectory;
    int32_t n_slots;
    trajectory_frames *slots[TRAJECTORY_READAHEAD_SLOTS];
    const trajectory_arranger *arranger; /* NULL: none */
    trajectory_frames *read; /* frames before they are arranged; NULL: the slots take them */
    int32_t first;           /* `lock` guards this and the next five members */
    int32_t used;
    int32_t held; /* 1: the caller has slot `first` */
    int ended;    /* 1: no more slots will be filled */
    int32_t truncated;
    collet_error error; /* why reading ended; COLLET_OK: after the last frame */

    pthread_mutex_t lock;
    pthread_cond_t changed;
    int on_demand; /* 1: no thread, `next` reads */
    io_poll poll;
    pthread_t thread;
};

/* Arranges the frames of `read` into `slot`. */
static collet_status arrange(const trajectory_arranger *arranger, trajectory_frames *read,
                             trajectory_frames *slot, collet_error *err)
{
    int64_t n = read->n_frames;
    collet_status status = COLLET_OK;

    slot->n_bad_times = read->n_bad_times;
    slot->end_offset = read->end_offset;
    slot->truncated = read->truncated;
    slot->n_frames = 0;
    while (status == COLLET_OK && slot->n_frames < n) {
        int64_t i = slot->n_frames;

        status = arranger->frame(arranger->user, read, i, slot, i, err);
        slot->n_frames += status == COLLET_OK;
    }
    return status;
}

/* Fills a slot. A frame that cannot be arranged comes before whatever ended reading. */
static collet_status read_slot(trajectory_readahead *ahead, trajectory_frames *slot,
                               collet_error *err)
{
    trajectory_frames *read = ahead->read ? ahead->read : slot;
    collet_status status = trajectory_reader_read(ahead->trajectory, read, err);
    collet_status arranged = COLLET_OK;
    collet_error own;

    if (ahead->arranger)
        arranged = arrange(ahead->arranger, read, slot, &own);
    if (arranged == COLLET_OK)
        return status;
    *err = own;
    slot->truncated = 0;
    return arranged;
}

/* Reads the next batch into a free slot. Called with `lock` held; releases it while reading. */
static void fill_slot(trajectory_readahead *ahead)
{
    trajectory_frames *frames = ahead->slots[(ahead->first + ahead->used) % ahead->n_slots];
    collet_error error;

    pthread_mutex_unlock(&ahead->lock);
    collet_status status = read_slot(ahead, frames, &error);
    pthread_mutex_lock(&ahead->lock);
    ahead->used += frames->n_frames > 0;
    if (status != COLLET_OK) {
        ahead->error = error;
        ahead->truncated = frames->truncated;
    }
    if (status != COLLET_OK || frames->n_frames < frames->capacity)
        ahead->ended = 1;
    pthread_cond_broadcast(&ahead->changed);
}

static void *fill_slots(void *argument)
{
    trajectory_readahead *ahead = argument;

    pthread_mutex_lock(&ahead->lock);
    while (!ahead->ended) {
        if (ahead->used == ahead->n_slots)
            pthread_cond_wait(&ahead->changed, &ahead->lock);
        else
            fill_slot(ahead);
    }
    pthread_mutex_unlock(&ahead->lock);
    return NULL;
}

static void free_all(trajectory_readahead *ahead)
{
    pthread_cond_destroy(&ahead->changed);
    pthread_mutex_destroy(&ahead->lock);
    for (int32_t i = 0; i < ahead->n_slots; i++)
        trajectory_frames_free(ahead->slots[i]);
    trajectory_frames_free(ahead->read);
    free(ahead);
}

static collet_status create_frames(const trajectory_readahead *ahead,
                                   const trajectory_readahead_options *options, int64_t n_atoms,
                                   trajectory_frames **out, collet_error *err)
{
    return trajectory_frames_create(n_atoms, options->batch_frames,
                                    trajectory_reader_get_info(ahead->trajectory)->dtype,
                                    options->velocities, options->forces, out, err);
}

static collet_status create_slots(trajectory_readahead *ahead,
                                  const trajectory_readahead_options *options, collet_error *err)
{
    const trajectory_arranger *arranger = options->arranger;
    int64_t n_read = trajectory_reader_selected(ahead->trajectory);
    int64_t n_atoms = arranger ? arranger->n_atoms : n_read;
    collet_status status = COLLET_OK;

    for (int32_t i = 0; status == COLLET_OK && i < ahead->n_slots; i++) {
        status = create_frames(ahead, options, n_atoms, &ahead->slots[i], err);
        if (status == COLLET_OK)
            ahead->slots[i]->slot = i;
    }
    if (status == COLLET_OK && arranger && !arranger->in_place)
        status = create_frames(ahead, options, n_read, &ahead->read, err);
    return status;
}

collet_status trajectory_readahead_start(trajectory_reader *trajectory,
                                         const trajectory_readahead_options *options,
                                         trajectory_readahead **out, collet_error *err)
{
    pthread_condattr_t attributes;

    *out = NULL;
    trajectory_readahead *ahead = calloc(1, sizeof *ahead);
    if (!ahead)
        return collet_fail(err, COLLET_NO_MEMORY, "no memory to read ahead");
    ahead->trajectory = trajectory;
    ahead->n_slots = options->n_slots;
    ahead->on_demand = trajectory_reader_get_info(trajectory)->on_demand;
    ahead->poll = options->poll;
    ahead->arranger = options->arranger;
    pthread_mutex_init(&ahead->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&ahead->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    if (!ahead->on_demand)
        trajectory_reader_background(trajectory);
    collet_status status = create_slots(ahead, options, err);
    int code = status == COLLET_OK && !ahead->on_demand
                   ? io_thread_start(&ahead->thread, fill_slots, ahead)
                   : 0;
    if (code != 0)
        status = collet_fail(err, COLLET_FAILED, "cannot start a thread to read ahead: %s",
                             strerror(code));
    if (status != COLLET_OK) {
        free_all(ahead);
        return status;
    }
    *out = ahead;
    return COLLET_OK;
}

const trajectory_frames *trajectory_readahead_slot(const trajectory_readahead *ahead, int32_t i)
{
    return ahead->slots[i];
}

/* Waits for a change, at most 50 ms; COLLET_CANCELLED when the poll stops the work. */
static collet_status wait_for_slot(trajectory_readahead *ahead, collet_error *err)
{
    struct timespec until;
    int stops;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += WAIT_NS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    if (pthread_cond_timedwait(&ahead->changed, &ahead->lock, &until) != ETIMEDOUT)
        return COLLET_OK;
    pthread_mutex_unlock(&ahead->lock);
    stops = io_poll_stops(&ahead->poll);
    pthread_mutex_lock(&ahead->lock);
    return stops ? collet_fail(err, COLLET_CANCELLED, "cancelled") : COLLET_OK;
}

collet_status trajectory_readahead_next(trajectory_readahead *ahead, const trajectory_frames **out,
                                        int32_t *truncated, collet_error *err)
{
    collet_status status = COLLET_OK;

    *out = NULL;
    if (truncated)
        *truncated = 0;
    pthread_mutex_lock(&ahead->lock);
    ahead->first = (ahead->first + ahead->held) % ahead->n_slots;
    ahead->used -= ahead->held;
    ahead->held = 0;
    pthread_cond_broadcast(&ahead->changed);
    while (status == COLLET_OK && ahead->used == 0 && !ahead->ended) {
        if (ahead->on_demand)
            fill_slot(ahead);
        else
            status = wait_for_slot(ahead, err);
    }
    if (status != COLLET_OK) {
        pthread_mutex_unlock(&ahead->lock);
        return status;
    }
    if (ahead->used > 0) {
        ahead->held = 1;
        *out = ahead->slots[ahead->first];
    } else if (ahead->error.status != COLLET_OK) {
        status = collet_fail(err, ahead->error.status, "%s", ahead->error.text);
        if (truncated)
            *truncated = ahead->truncated;
    }
    pthread_mutex_unlock(&ahead->lock);
    if (*out && ahead->arranger && ahead->arranger->in_order)
        ahead->arranger->in_order(ahead->arranger->user, ahead->slots[ahead->first]);
    return status;
}

void trajectory_readahead_stop(trajectory_readahead *ahead)
{
    if (!ahead)
        return;
    trajectory_reader_cancel(ahead->trajectory);
    pthread_mutex_lock(&ahead->lock);
    ahead->ended = 1;
    pthread_cond_broadcast(&ahead->changed);
    pthread_mutex_unlock(&ahead->lock);
    if (!ahead->on_demand)
        pthread_join(ahead->thread, NULL);
    free_all(ahead);
}
