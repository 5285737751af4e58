/* SPDX-License-Identifier: Apache-2.0 */
/*
 * feed.h - the batches of a trajectory as collet arrays over the read-ahead's own memory.
 *
 * While the caller computes on one batch a thread reads the next ones into other buffers. Nothing
 * is copied on the way. One thread at a time.
 */
#ifndef COLLET_EXTRACT_FEED_H
#define COLLET_EXTRACT_FEED_H

#include "trajectory/formats/readahead.h"

typedef struct extract_feed extract_feed;

/* Arrays frames x atoms x 3, of the frames read; valid as long as `frames`. */
typedef struct extract_batch {
    const collet_frames *frames;
    collet_array *positions;
    collet_array *velocities; /* NULL = not requested */

    collet_array *forces; /* NULL = not requested */

} extract_batch;

/* Starts reading; the trajectory is the feed's until `stop`. Errors as collet_readahead_start and
 * collet_array_wrap. On an error *out is NULL. */
collet_status extract_feed_start(collet_context *context, collet_trajectory *trajectory,
                                 const collet_readahead_options *options, extract_feed **out,
                                 collet_error *err);

/* Releases the last batch after kernels on it have finished, and returns the next one. *out is NULL
 * after the last one, with the error that ended reading if there was one; *truncated is then 1 when
 * that is a file that ends inside a frame. */
collet_status extract_feed_next(extract_feed *feed, const extract_batch **out, int32_t *truncated,
                                collet_error *err);

/* Stops reading and frees the feed; NULL is allowed. */
void extract_feed_stop(extract_feed *feed);

#endif
