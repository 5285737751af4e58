/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lanes.h - several devices that share the batches of a trajectory: each makes the sums over atoms
 * of whole batches, on a thread and with an analysis of its own; the caller gets the sums in order.
 */
#ifndef ENGINES_TRAJECTORY_COMPUTE_LANES_H
#define ENGINES_TRAJECTORY_COMPUTE_LANES_H

#include "analysis.h"

#include <collet/devices.h>

typedef struct trajectory_lanes trajectory_lanes;

typedef struct trajectory_lanes_setup {
    trajectory_analysis_setup analysis; /* its reference may be NULL; `emit` is not used */
    collet_context **contexts;          /* of the devices; valid until `free` */
    int64_t n;
    int64_t batch_frames;
    int64_t slots; /* of the feed, at least n + TRAJECTORY_LANES_AHEAD */
    /* Called on the caller's thread, within `next`: for each batch in order, before it is computed;
     * and from time to time, where any value but 0 cancels. */
    collet_status (*read)(void *user, const trajectory_frames *frames, collet_error *err);
    int32_t (*ask)(void *user);
    void *user;
} trajectory_lanes_setup;

#define TRAJECTORY_LANES_AHEAD 2 /* slots that are being read */

/* The feed is not started yet. NO_MEMORY. */
collet_status trajectory_lanes_create(const trajectory_lanes_setup *setup, trajectory_lanes **out,
                                      collet_error *err);
/* Before the first `next`: nothing else may use the feed until `stop`. */
void trajectory_lanes_feed(trajectory_lanes *lanes, trajectory_feed *feed);

/*
 * The sums of the next batch, by the table of outputs.h, valid until the next call: *n frames; 0:
 * none is left. Then, as trajectory_feed_next, it returns the error that ended reading. An error of
 * a device is not returned unless all have failed.
 */
collet_status trajectory_lanes_next(trajectory_lanes *lanes, int64_t *n, const double *const **sums,
                                    int32_t *truncated, collet_error *err);

/* Runs the batch twice on a device, in place of `next`; `share` is of the second time, because the
 * first may compile kernels. */
collet_status trajectory_lanes_measure(trajectory_lanes *lanes, int64_t device,
                                       const trajectory_batch *batch, collet_device_share *share,
                                       collet_error *err);

/* Bytes of a batch's sums. */
uint64_t trajectory_lanes_bytes(const trajectory_analysis_setup *setup, int64_t batch_frames);

/* NOT_FOUND beyond the devices. `done` counts frames. Valid until `free`. */
collet_status trajectory_lanes_share(const trajectory_lanes *lanes, collet_device_share *share,
                                     size_t index);
/* Adds what the devices did. Not after `stop`, and only while none works. */
void trajectory_lanes_add_notes(const trajectory_lanes *lanes, trajectory_analysis_notes *notes);

/* Ends the threads and frees what the work needs; the shares remain. NULL is allowed, also below. */
void trajectory_lanes_stop(trajectory_lanes *lanes);
void trajectory_lanes_free(trajectory_lanes *lanes);

#endif
