/* SPDX-License-Identifier: Apache-2.0 */
/*
 * readahead.h - threads that read the next batches of a trajectory while the caller computes on
 * one.
 *
 * There is a fixed number of batches, called slots. The threads fill free ones in order; `next`
 * returns the oldest filled one and gives the one before it back to the threads. In turns, each
 * thread finds the next frames by their heads, then decodes them while the next thread takes its turn,
 * so that the first batch is complete before the others are found. Memory does not depend on the
 * length of the trajectory. Without threads, `next` reads.
 */
#ifndef ENGINES_TRAJECTORY_READING_READAHEAD_H
#define ENGINES_TRAJECTORY_READING_READAHEAD_H

#include "reader.h"

typedef struct trajectory_readahead trajectory_readahead;

#define TRAJECTORY_READAHEAD_SLOTS 16
#define TRAJECTORY_READAHEAD_THREADS 64

/* What is done to each frame between reading and use. */
typedef struct trajectory_arranger {
    void *user;
    int64_t n_atoms;  /* of an arranged frame */
    int32_t in_place; /* 1: the atoms and their order remain, and `out` is `read` */
    int32_t chooses;  /* 1: `frame` sets the masses of `out`, and `chosen` */
    /*
     * Makes frame k of `out`, all its arrays, from frame i of `read`, which it may change. Called
     * on the thread that decoded the frame, so for several frames at the same time. An error ends
     * reading before this frame.
     */
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
    int32_t n_threads;    /* 0 to TRAJECTORY_READAHEAD_THREADS; 0: the caller's reads. Formats that
                             are not concurrent use at most one, formats on demand none */
    int32_t velocities;   /* 1: read them */
    int32_t forces;       /* 1: read them */
    io_poll poll;         /* `next` calls it every 50 ms while it waits */
    int64_t first;        /* frames before this number are arranged, but not returned */
    const trajectory_arranger *arranger; /* valid until `stop`; NULL: frames are used as read */
} trajectory_readahead_options;

/*
 * Makes the slots; nothing reads yet. The trajectory belongs to the read-ahead until `stop`: the caller sets
 * selection and slice before, and closes the trajectory afterwards. COLLET_INVALID for batch_frames < 1,
 * COLLET_NOT_FOUND when the file does not have a requested field, COLLET_OVERFLOW, COLLET_NO_MEMORY,
 * COLLET_IO. On an error *out is NULL.
 */
collet_status trajectory_readahead_create(trajectory_reader *trajectory,
                                          const trajectory_readahead_options *options,
                                          trajectory_readahead **out, collet_error *err);
/* Starts the threads; once. Without it `next` reads. COLLET_FAILED if a thread cannot be started. */
collet_status trajectory_readahead_start(trajectory_readahead *ahead, collet_error *err);

/* Slot i of 0..n_slots-1. Its address is valid until `stop`, so that it can be wrapped once. After `start`
 * access its contents only between the `next` that returns it and the following one. */
const trajectory_frames *trajectory_readahead_slot(const trajectory_readahead *ahead, int32_t i);

/*
 * Gives the batch of the last call back, waits for the next one and returns it in *out;
 * frames->slot is its slot. Batches come in the order of the file and are never empty; only the
 * last one may be short. After the last *out is NULL with COLLET_OK, or with the error that ended
 * reading (as trajectory_reader_read; *truncated, which may be NULL, is then 1 for a file that ends
 * inside a frame, else 0): frames before an error are always delivered first. Nothing reads then, and
 * trajectory_reader_gaps counts the frames up to there. COLLET_CANCELLED at once when the poll stops
 * the work.
 */
collet_status trajectory_readahead_next(trajectory_readahead *ahead, const trajectory_frames **out,
                                        int32_t *truncated, collet_error *err);

/* The same without giving a batch back, so that the caller has several, fewer than all slots. */
collet_status trajectory_readahead_take(trajectory_readahead *ahead, const trajectory_frames **out,
                                        int32_t *truncated, collet_error *err);
/* Gives back the n oldest that the caller has. */
void trajectory_readahead_give(trajectory_readahead *ahead, int64_t n);

/* Cancels reading after the current frames at the latest, joins the threads and frees all slots; NULL
 * is allowed. */
void trajectory_readahead_stop(trajectory_readahead *ahead);

#endif
