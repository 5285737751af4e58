/* SPDX-License-Identifier: Apache-2.0 */
/*
 * feed.h - the batches of a trajectory as arrays that wrap the buffers of the read-ahead.
 *
 * While the caller computes on one batch, a thread reads the next batches into other buffers. No copy
 * is made. One thread at a time.
 */
#pragma once

#include "trajectory/reading/readahead.h"

typedef struct trajectory_feed trajectory_feed;

/* Arrays of n_frames x atoms x 3; `masses` has n_frames x atoms. Valid as long as `frames`. */
typedef struct trajectory_batch {
    const trajectory_frames *frames;
    collet_array *positions;
    collet_array *velocities; /* NULL = not requested */

    collet_array *forces; /* NULL = not requested */

    collet_array *masses; /* NULL = the same in all frames */
} trajectory_batch;

/* Starts reading; only the feed may use the trajectory until `stop`. Has the errors of trajectory_readahead_create
 * and collet_array_wrap. On an error *out is NULL. */
collet_status trajectory_feed_start(collet_context *context, trajectory_reader *trajectory,
                                    const trajectory_readahead_options *options,
                                    trajectory_feed **out, collet_error *err);

/* Waits for the kernels that use the last batch, takes this batch back, and returns the next batch. After the last
 * batch *out is NULL, and an error that ended reading is returned. *truncated is then 1 if the error means that the
 * file ends inside a frame. */
collet_status trajectory_feed_next(trajectory_feed *feed, const trajectory_batch **out,
                                   int32_t *truncated, collet_error *err);

/* Returns the next batch without taking a batch back. The caller may have several batches, but fewer than the
 * slots. */
collet_status trajectory_feed_take(trajectory_feed *feed, const trajectory_batch **out,
                                   int32_t *truncated, collet_error *err);
/* Gives back the oldest batch that the caller has. */
collet_status trajectory_feed_give(trajectory_feed *feed, const trajectory_batch *batch,
                                   collet_error *err);
/* Creates the arrays of a batch again, after the device that had them was lost. */
collet_status trajectory_feed_renew(trajectory_feed *feed, const trajectory_batch *batch,
                                    collet_error *err);

/* Stops reading and frees the feed; NULL is allowed. */
void trajectory_feed_stop(trajectory_feed *feed);
