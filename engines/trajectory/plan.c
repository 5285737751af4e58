/* SPDX-License-Identifier: Apache-2.0 */
/* The memory and time that the work needs, measured on the first batch, and the shares of devices.
 * Tests: tests/engines/test_trajectory_devices.c, tests/tools/test_several_devices.c */
#include "run.h"

#include "io/struct.h"

#include <collet/floating.h>

collet_status collet_trajectory_share_at(const collet_trajectory *x, collet_device_share *share,
                                         size_t index, collet_error *err)
{
    if (devices_shares_at(&x->planned, share, index) == COLLET_OK)
        return COLLET_OK;
    if (x->planned.count == 0 && x->lanes != NULL &&
        trajectory_lanes_share(x->lanes, share, index) == COLLET_OK)
        return COLLET_OK;
    return collet_fail(err, COLLET_NOT_FOUND, "index %zu is out of range: there are fewer devices",
                       index);
}

static collet_status ignore_sums(void *user, int32_t buffer, int64_t n, const double *rows,
                                 collet_error *err)
{
    (void)user;
    (void)buffer;
    (void)n;
    (void)rows;
    (void)err;
    return COLLET_OK;
}

/* Computes the batch twice and measures the second run, as trajectory_lanes_measure does for several devices. */
static collet_status measure_one(collet_trajectory *x, const trajectory_batch *batch,
                                 collet_device_share *share, collet_error *err)
{
    collet_status status = COLLET_OK;

    for (int time = 0; time < 2 && status == COLLET_OK; time++) {
        double began = trajectory_clock();

        status = trajectory_analysis_add(x->analysis, batch, err);
        if (status == COLLET_OK)
            status = trajectory_analysis_finish(x->analysis, err);
        share->seconds = trajectory_clock() - began;
    }
    share->device = collet_last_backend(x->context);
    share->done = batch->frames->n_frames;
    return status;
}

static collet_status measure(collet_trajectory *x, const trajectory_batch *batch, collet_error *err)
{
    collet_device_share share = {.struct_size = sizeof share};
    int64_t n = x->lanes != NULL ? x->devices.count : 1;
    collet_status status = trajectory_run_read(x, batch->frames, err);

    for (int64_t i = 0; i < n && status == COLLET_OK; i++) {
        status = x->lanes != NULL ? trajectory_lanes_measure(x->lanes, i, batch, &share, err)
                                  : measure_one(x, batch, &share, err);
        if (status == COLLET_OK && !devices_shares_add(&x->planned, &share))
            status = collet_fail(err, COLLET_NO_MEMORY, "plan: out of memory");
    }
    return status;
}

static void fill_plan(const collet_trajectory *x, collet_trajectory_plan *plan)
{
    const trajectory_analysis_setup setup = {.n_atoms = x->inputs.n_atoms,
                                             .bodies = x->inputs.bodies.n,
                                             .buffers = trajectory_run_buffers(x)};
    uint64_t sums = trajectory_lanes_bytes(&setup, x->batch_frames);
    const collet_trajectory_plan own = {
        .batch_frames = x->batch_frames,
        .batches = x->slots,
        .host_bytes = (uint64_t)x->slots * (x->batch_bytes + (x->lanes != NULL ? sums : 0)),
        .bytes = x->batch_bytes + sums};

    io_struct_out(plan, &own, sizeof own);
}

static collet_status plan_work(collet_trajectory *x, collet_trajectory_plan *plan,
                               collet_error *err)
{
    const trajectory_batch *batch = NULL;
    int32_t truncated;
    collet_status status = trajectory_run_sums(x, ignore_sums, NULL, NULL, err);

    if (status == COLLET_OK)
        status = trajectory_feed_take(x->feed, &batch, &truncated, err);
    if (status == COLLET_OK && batch == NULL)
        status = collet_fail(err, COLLET_INVALID, "no frame to compute: %s ends before frame %lld",
                             x->settings.trajectory, (long long)x->settings.start);
    if (status == COLLET_OK)
        status = measure(x, batch, err);
    if (status == COLLET_OK)
        fill_plan(x, plan);
    return status;
}

collet_status collet_trajectory_plan_work(collet_trajectory *x, collet_trajectory_plan *plan,
                                          collet_error *err)
{
    COLLET_FLOATING_SCOPE;

    if (x->stage != TRAJECTORY_OPEN || x->replay != NULL)
        return collet_fail(err, COLLET_INVALID,
                           "plan: the work has begun, or is done by shards already");
    collet_status status = plan_work(x, plan, err);
    trajectory_run_stop(x);
    x->stage = TRAJECTORY_DONE;
    x->status = collet_fail(&x->error, COLLET_INVALID, "the work was planned, not done");
    return status;
}
