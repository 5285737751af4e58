/* SPDX-License-Identifier: Apache-2.0 */
/*
 * readahead.h - a thread that reads the next batches of a trajectory while one is computed on.
 *
 * There is a fixed number of batches, called slots. The thread fills free ones in order; `next`
 * returns the oldest filled one, `release` frees it for reading. The caller may hold several.
 * Memory does not depend on the length of the trajectory.
 */
#ifndef COLLET_IO_READAHEAD_H
#define COLLET_IO_READAHEAD_H

#include "trajectory.h"

typedef struct collet_readahead collet_readahead;

typedef struct collet_readahead_options {
    int64_t batch_frames; /* frames of a slot, >= 1 */
    int32_t n_slots;      /* 2 or more; 3 keeps the thread busy while the caller holds one or two */
    int32_t velocities;   /* 1: read them */
    int32_t forces;       /* 1: read them */
} collet_readahead_options;

/*
 * Starts reading. The trajectory belongs to the thread until `stop`: selection and slice are set
 * before, and it is closed after, by the caller. COLLET_INVALID for options out of range,
 * COLLET_OVERFLOW, COLLET_NO_MEMORY, COLLET_FAILED when no thread can be started. On an error *out
 * is NULL.
 */
collet_status collet_readahead_start(collet_trajectory *trajectory,
                                     const collet_readahead_options *options,
                                     collet_readahead **out, collet_error *err);

/* Slot i of 0..n_slots-1, valid until `stop`, so that arrays can be wrapped around it once. Access
 * its contents only between `next` and `release`. */
const collet_frames *collet_readahead_slot(const collet_readahead *ahead, int32_t i);

/*
 * Waits for the next batch and returns it in *out; frames->slot is its slot. Batches come in the
 * order of the file and are never empty; only the last one may be short. After the last *out is
 * NULL with COLLET_OK, or with the error that ended reading (as collet_trajectory_read; *truncated,
 * which may be NULL, is then 1 for a file that ends inside a frame, else 0): frames before an error
 * are always delivered first. COLLET_BUSY when the caller holds every slot, which would wait
 * forever.
 */
collet_status collet_readahead_next(collet_readahead *ahead, const collet_frames **out,
                                    int32_t *truncated, collet_error *err);

/* Releases a batch for reading; NULL is allowed. The same thread as `next`. */
void collet_readahead_release(collet_readahead *ahead, const collet_frames *frames);

/* Cancels reading (after at most the frame under way), joins the thread and frees all slots; NULL
 * is allowed. */
void collet_readahead_stop(collet_readahead *ahead);

#endif
