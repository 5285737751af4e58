/* SPDX-License-Identifier: Apache-2.0 */
/*
 * readahead.h - threads that read the next batches of a trajectory while the caller computes on a batch.
 *
 * There is a fixed number of batches, called slots. The threads fill free slots in order; `next`
 * returns the oldest filled slot and gives the slot before it back to the threads. In turns, each
 * thread finds the next frames by their heads, then decodes them while the next thread takes its turn.
 * So the first batch is complete before the frames of later batches are found. Memory does not depend on
 * the length of the trajectory. Without threads, `next` reads.
 */
#pragma once

#include "reader.h"

typedef struct trajectory_readahead trajectory_readahead;

#define TRAJECTORY_READAHEAD_SLOTS 16
#define TRAJECTORY_READAHEAD_THREADS 64

/* Functions that change each frame between reading and use. */
typedef struct trajectory_arranger {
    void *user;
    int64_t n_atoms;  /* number of atoms of an arranged frame */
    int32_t in_place; /* 1: the atoms and their order do not change, and `out` is `read` itself */
    int32_t chooses;  /* 1: `frame` sets the masses of `out`, and `chosen` */
    int64_t n_system; /* rows of `system` of `out`, which `frame` sets; 0: none */
    int64_t n_bodies; /* rows of `centres` and `moves` of `out`, which `in_order` sets; 0: none */
    /* Sets frame k in all arrays of `out` from frame i of `read`; the function may change `read`. Called on the thread
     * that decoded the frame, so possibly for several frames at the same time. An error ends reading before this
     * frame. */
    collet_status (*frame)(void *user, trajectory_frames *read, int64_t i, trajectory_frames *out,
                           int64_t k, collet_error *err);
    /* Changes the frames of `out`; batches come in the order of the file, on the thread that calls
     * `next`. NULL: nothing. */
    void (*in_order)(void *user, trajectory_frames *out);
} trajectory_arranger;

typedef struct trajectory_readahead_options {
    int64_t batch_frames; /* frames of a slot, >= 1 */
    int32_t n_slots;      /* 1 to TRAJECTORY_READAHEAD_SLOTS; with threads at least 2, and at least
                             3 to keep them busy */
    int32_t n_threads;    /* 0 to TRAJECTORY_READAHEAD_THREADS; 0: the caller's thread reads. Formats
                             without `concurrent` use at most one thread, formats with `on_demand` none */
    int32_t velocities;   /* 1: read them */
    int32_t forces;       /* 1: read them */
    io_poll poll;         /* `next` calls it every 50 ms while it waits */
    int64_t first;        /* frames before this number are arranged, but not returned */
    const trajectory_arranger *arranger; /* valid until `stop`; NULL: frames are used as read */
} trajectory_readahead_options;

/* Creates the slots; does not begin to read. Only the read-ahead may use the trajectory until `stop`: so set
 * selection and slice before, and close the trajectory afterwards. COLLET_INVALID for batch_frames < 1,
 * COLLET_NOT_FOUND if the file does not have a requested field, COLLET_OVERFLOW, COLLET_NO_MEMORY, COLLET_IO. On an
 * error *out is NULL. */
collet_status trajectory_readahead_create(trajectory_reader *trajectory,
                                          const trajectory_readahead_options *options,
                                          trajectory_readahead **out, collet_error *err);
/* Starts the threads. Call it at most once; if it was not called, `next` reads the frames. COLLET_FAILED if a thread
 * cannot be started. */
collet_status trajectory_readahead_start(trajectory_readahead *ahead, collet_error *err);

/* Slot i of 0..n_slots-1. The addresses of the slot's arrays are valid until `stop`, so array objects can wrap them
 * once. After
 * `start` access its contents only between the `next` that returns the slot and the following `next`. */
const trajectory_frames *trajectory_readahead_slot(const trajectory_readahead *ahead, int32_t i);

/* Gives the batch of the last call back, waits for the next batch and returns it in *out; (*out)->slot is its
 * slot. Batches come in the order of the file and are never empty; only the last batch may be short. After the
 * last batch *out is NULL and the status COLLET_OK, or the error that ended reading as in trajectory_reader_read;
 * after an error *truncated (`truncated` may be NULL) is 1 for a file that ends inside a frame, else 0. Frames before
 * an error are always delivered first. After the last batch no thread reads any more, and trajectory_reader_gaps
 * counts the frames up to there. COLLET_CANCELLED at once if the poll stops the work. */
collet_status trajectory_readahead_next(trajectory_readahead *ahead, const trajectory_frames **out,
                                        int32_t *truncated, collet_error *err);

/* Returns the next batch without giving a batch back. The caller may have several batches, but fewer than n_slots. */
collet_status trajectory_readahead_take(trajectory_readahead *ahead, const trajectory_frames **out,
                                        int32_t *truncated, collet_error *err);
/* Gives back the n oldest batches that the caller has. */
void trajectory_readahead_give(trajectory_readahead *ahead, int64_t n);

/* Cancels reading, waits until the threads have ended (at the latest after their current frames) and frees all slots.
 * NULL is allowed. */
void trajectory_readahead_stop(trajectory_readahead *ahead);
