/* SPDX-License-Identifier: Apache-2.0 */
#include "readahead.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define SLOT_LIMIT 64

/*
 * A ring of slots: the thread fills them in order, `next` returns them in order. They may be
 * released in any order; the thread waits for the next one of the ring.
 */
enum { FREE, FILLED, LENT };

struct collet_readahead {
    collet_trajectory *trajectory;
    int32_t n_slots;
    collet_frames **slots;
    int *states; /* FREE, FILLED or LENT; guarded by `lock` as everything below */
    int32_t to_lend;
    int ended; /* the thread fills nothing more */
    int cancelled;
    int32_t truncated;
    collet_error error; /* status OK: the trajectory ended after a complete frame */

    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
};

/* 0 when reading is cancelled. */
static int wait_for_free(collet_readahead *ahead, int32_t slot)
{
    pthread_mutex_lock(&ahead->lock);
    while (ahead->states[slot] != FREE && !ahead->cancelled)
        pthread_cond_wait(&ahead->changed, &ahead->lock);
    int go_on = !ahead->cancelled;
    pthread_mutex_unlock(&ahead->lock);
    return go_on;
}

/* Publishes a filled slot; 0 when it was the last. */
static int hand_over(collet_readahead *ahead, int32_t slot, collet_status status,
                     const collet_error *error)
{
    const collet_frames *frames = ahead->slots[slot];

    pthread_mutex_lock(&ahead->lock);
    if (frames->n_frames > 0)
        ahead->states[slot] = FILLED;
    if (status != COLLET_OK) {
        ahead->error = *error;
        ahead->error.status = status;
        ahead->truncated = frames->truncated;
    }
    ahead->ended = status != COLLET_OK || frames->n_frames < frames->capacity;
    int go_on = !ahead->ended;
    pthread_cond_broadcast(&ahead->changed);
    pthread_mutex_unlock(&ahead->lock);
    return go_on;
}

static void *fill_slots(void *argument)
{
    collet_readahead *ahead = argument;
    int32_t slot = 0;

    while (wait_for_free(ahead, slot)) {
        collet_error error;
        collet_status status =
            collet_trajectory_read(ahead->trajectory, ahead->slots[slot], &error);
        if (!hand_over(ahead, slot, status, &error))
            break;
        slot = (slot + 1) % ahead->n_slots;
    }
    return NULL;
}

/* The caller's signals are handled on the caller's threads. */
static int start_thread(collet_readahead *ahead)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int code = pthread_create(&ahead->thread, NULL, fill_slots, ahead);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return code;
}

static void free_slots(collet_readahead *ahead)
{
    if (ahead->slots)
        for (int32_t i = 0; i < ahead->n_slots; i++)
            collet_frames_free(ahead->slots[i]);
    free(ahead->slots);
    free(ahead->states);
}

static collet_status create_slots(collet_readahead *ahead, const collet_readahead_options *options,
                                  collet_error *err)
{
    size_t n = (size_t)options->n_slots;

    ahead->n_slots = options->n_slots;
    ahead->slots = calloc(n, sizeof(collet_frames *));
    ahead->states = calloc(n, sizeof *ahead->states);
    if (!ahead->slots || !ahead->states)
        return collet_fail(err, COLLET_NO_MEMORY, "no memory to read ahead");
    for (int32_t i = 0; i < ahead->n_slots; i++) {
        collet_status status = collet_frames_create(
            collet_trajectory_selected(ahead->trajectory), options->batch_frames,
            collet_trajectory_get_info(ahead->trajectory)->dtype, options->velocities,
            options->forces, &ahead->slots[i], err);
        if (status != COLLET_OK)
            return status;
        ahead->slots[i]->slot = i;
    }
    return COLLET_OK;
}

collet_status collet_readahead_start(collet_trajectory *trajectory,
                                     const collet_readahead_options *options,
                                     collet_readahead **out, collet_error *err)
{
    *out = NULL;
    if (options->batch_frames < 1 || options->n_slots < 2 || options->n_slots > SLOT_LIMIT)
        return collet_fail(
            err, COLLET_INVALID,
            "reading ahead needs 2 to %d slots of at least one frame, not %d of %lld", SLOT_LIMIT,
            options->n_slots, (long long)options->batch_frames);
    collet_readahead *ahead = calloc(1, sizeof *ahead);
    if (!ahead)
        return collet_fail(err, COLLET_NO_MEMORY, "no memory to read ahead");
    ahead->trajectory = trajectory;
    collet_status status = create_slots(ahead, options, err);
    if (status != COLLET_OK)
        goto fail;
    pthread_mutex_init(&ahead->lock, NULL);
    pthread_cond_init(&ahead->changed, NULL);
    int code = start_thread(ahead);
    if (code != 0) {
        status = collet_fail(err, COLLET_FAILED, "cannot start a thread to read ahead: %s",
                             strerror(code));
        pthread_cond_destroy(&ahead->changed);
        pthread_mutex_destroy(&ahead->lock);
        goto fail;
    }
    *out = ahead;
    return COLLET_OK;
fail:
    free_slots(ahead);
    free(ahead);
    return status;
}

const collet_frames *collet_readahead_slot(const collet_readahead *ahead, int32_t i)
{
    return ahead->slots[i];
}

collet_status collet_readahead_next(collet_readahead *ahead, const collet_frames **out,
                                    int32_t *truncated, collet_error *err)
{
    collet_status status = COLLET_OK;

    *out = NULL;
    if (truncated)
        *truncated = 0;
    pthread_mutex_lock(&ahead->lock);
    int32_t slot = ahead->to_lend;
    while (ahead->states[slot] == FREE && !ahead->ended)
        pthread_cond_wait(&ahead->changed, &ahead->lock);
    if (ahead->states[slot] == FILLED) {
        ahead->states[slot] = LENT;
        ahead->to_lend = (slot + 1) % ahead->n_slots;
        *out = ahead->slots[slot];
    } else if (ahead->states[slot] == LENT && !ahead->ended) {
        status = collet_fail(err, COLLET_BUSY,
                             "all %d batches are held; release one before the next call",
                             ahead->n_slots);
    } else if (ahead->error.status != COLLET_OK) {
        status = collet_fail(err, ahead->error.status, "%s", ahead->error.text);
        if (truncated)
            *truncated = ahead->truncated;
    }
    pthread_mutex_unlock(&ahead->lock);
    return status;
}

void collet_readahead_release(collet_readahead *ahead, const collet_frames *frames)
{
    if (!frames)
        return;
    pthread_mutex_lock(&ahead->lock);
    ahead->states[frames->slot] = FREE;
    pthread_cond_broadcast(&ahead->changed);
    pthread_mutex_unlock(&ahead->lock);
}

void collet_readahead_stop(collet_readahead *ahead)
{
    if (!ahead)
        return;
    collet_trajectory_cancel(ahead->trajectory);
    pthread_mutex_lock(&ahead->lock);
    ahead->cancelled = 1;
    pthread_cond_broadcast(&ahead->changed);
    pthread_mutex_unlock(&ahead->lock);
    pthread_join(ahead->thread, NULL);
    pthread_cond_destroy(&ahead->changed);
    pthread_mutex_destroy(&ahead->lock);
    free_slots(ahead);
    free(ahead);
}
