/* SPDX-License-Identifier: Apache-2.0 */
/* lanes.h - several devices share the batches of a trajectory. Each device computes the sums over atoms of whole
 * batches, with its own thread and its own analysis; the caller gets the sums in order. */
#pragma once

#include "analysis.h"

#include <collet/devices.h>

typedef struct trajectory_lanes trajectory_lanes;

typedef struct trajectory_lanes_setup {
    trajectory_analysis_setup analysis; /* its reference may be NULL; `emit` is not used */
    collet_context **contexts;          /* one for each device; must be valid until `free` */
    int64_t n;
    int64_t batch_frames;
    int64_t slots; /* slots of the feed, at least n + TRAJECTORY_LANES_AHEAD */
    /* Both functions are called on the caller's thread, within `next`. `read` is called for each batch in order,
     * before the batch is computed. `ask` is called from time to time; a return value other than 0 cancels. */
    collet_status (*read)(void *user, const trajectory_frames *frames, collet_error *err);
    int32_t (*ask)(void *user);
    void *user;
} trajectory_lanes_setup;

#define TRAJECTORY_LANES_AHEAD 2 /* slots that are being read */

/* Creates the devices' analyses; the feed need not be started yet. NO_MEMORY. */
collet_status trajectory_lanes_create(const trajectory_lanes_setup *setup, trajectory_lanes **out,
                                      collet_error *err);
/* Sets the feed. Call it before the first `next`. After the call nothing else may use the feed until `stop`. */
void trajectory_lanes_feed(trajectory_lanes *lanes, trajectory_feed *feed);

/* Returns the sums of the next batch, of *n frames, valid until the next call; (*sums)[i] belongs to
 * trajectory_sums[i] (outputs.h). After the last batch *n is 0, and the function returns the error that ended
 * reading, like trajectory_feed_next. Errors of devices are returned only when all devices have failed. */
collet_status trajectory_lanes_next(trajectory_lanes *lanes, int64_t *n, const double *const **sums,
                                    int32_t *truncated, collet_error *err);

/* Measures a device: runs the batch twice on the device. `share` gets the time of the second run, because the first
 * may compile kernels. Do not use this function together with `next`. */
collet_status trajectory_lanes_measure(trajectory_lanes *lanes, int64_t device,
                                       const trajectory_batch *batch, collet_device_share *share,
                                       collet_error *err);

/* Bytes of a batch's sums. */
uint64_t trajectory_lanes_bytes(const trajectory_analysis_setup *setup, int64_t batch_frames);

/* NOT_FOUND for an index beyond the last device. `done` counts frames. The share is valid until `free`. */
collet_status trajectory_lanes_share(const trajectory_lanes *lanes, collet_device_share *share,
                                     size_t index);
/* Adds the counters and backends of all devices to *notes. Call it before `stop`, while no device works. */
void trajectory_lanes_add_notes(const trajectory_lanes *lanes, trajectory_analysis_notes *notes);

/* Ends the threads and frees everything except the shares. NULL is allowed, also in `free`. */
void trajectory_lanes_stop(trajectory_lanes *lanes);
void trajectory_lanes_free(trajectory_lanes *lanes);
