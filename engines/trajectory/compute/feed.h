/* SPDX-License-Identifier: Apache-2.0 */
/*
 * feed.h - the batches of a trajectory as collet arrays over the read-ahead's own memory.
 *
 * While the caller computes on one batch a thread reads the next ones into other buffers. Nothing
 * is copied on the way. One thread at a time.
 */
#ifndef ENGINES_TRAJECTORY_COMPUTE_FEED_H
#define ENGINES_TRAJECTORY_COMPUTE_FEED_H

#include "trajectory/reading/readahead.h"

typedef struct trajectory_feed trajectory_feed;

/* Arrays frames x atoms x 3, of the frames read; valid as long as `frames`. */
typedef struct trajectory_batch {
    const trajectory_frames *frames;
    collet_array *positions;
    collet_array *velocities; /* NULL = not requested */

    collet_array *forces; /* NULL = not requested */

} trajectory_batch;

/* Starts reading; the trajectory is the feed's until `stop`. Errors as
 * trajectory_readahead_start and collet_array_wrap. On an error *out is NULL. */
collet_status trajectory_feed_start(collet_context *context, trajectory_reader *trajectory,
                                    const trajectory_readahead_options *options,
                                    trajectory_feed **out, collet_error *err);

/* Releases the last batch after kernels on it have finished, and returns the next one. *out is NULL
 * after the last one, with the error that ended reading if there was one; *truncated is then 1 when
 * that is a file that ends inside a frame. */
collet_status trajectory_feed_next(trajectory_feed *feed, const trajectory_batch **out,
                                   int32_t *truncated, collet_error *err);

/* Stops reading and frees the feed; NULL is allowed. */
void trajectory_feed_stop(trajectory_feed *feed);

#endif
