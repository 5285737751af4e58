/* SPDX-License-Identifier: Apache-2.0 */
/* Rows delivered to the caller.
 * Tests: tests/engines/test_trajectory.c */
#include "run.h"

#include <collet/floating.h>

/* Frames of a batch of default size. A batch has fewer frames if there would be more than DEFAULT_ROWS rows, because
 * frames have many bodies. */
#define DEFAULT_FRAMES 1024
#define DEFAULT_ROWS 32768

static int64_t choose_rows(const collet_trajectory *x)
{
    int64_t most = DEFAULT_ROWS / trajectory_run_rows(x);

    if (x->settings.batch_rows > 0)
        return x->settings.batch_rows;
    return most > DEFAULT_FRAMES ? DEFAULT_FRAMES : most < 1 ? 1 : most;
}

static collet_status begin(collet_trajectory *x, int64_t max_rows, collet_error *err)
{
    collet_status status;

    if (x->rows != NULL)
        return COLLET_OK;
    if (x->settings.n_shards > 0)
        return collet_fail(err, COLLET_INVALID,
                           "a shard has no rows of results: write it, and create a trajectory of "
                           "all the parts");
    if (x->stage != TRAJECTORY_OPEN)
        return collet_fail(
            err, COLLET_INVALID,
            "the rows were already written to %s; create another trajectory to read them",
            x->output);
    status =
        trajectory_rows_create(x->left_out, trajectory_inputs_extent(&x->inputs), &x->rows, err);
    return status == COLLET_OK
               ? trajectory_run_start(x, max_rows, trajectory_rows_put, x->rows, err)
               : status;
}

/* Returns `max_rows` rows, or fewer at the end of the trajectory. */
static collet_status deliver(collet_trajectory *x, int64_t max_rows,
                             const collet_trajectory_batch **out, collet_error *err)
{
    int64_t ready = trajectory_rows_ready(x->rows);
    collet_status status = COLLET_OK;

    while (status == COLLET_OK && ready < max_rows && x->stage == TRAJECTORY_RUNNING) {
        status = trajectory_run_step(x, err);
        ready = trajectory_rows_ready(x->rows);
    }
    if (status != COLLET_OK)
        return status;
    if (x->stage == TRAJECTORY_DONE)
        status = trajectory_run_end(x, err);
    if (status != COLLET_OK || ready == 0)
        return status;
    return trajectory_rows_take(x->rows, ready < max_rows ? ready : max_rows, out, err);
}

static collet_status next(collet_trajectory *x, int64_t max_rows,
                          const collet_trajectory_batch **out, collet_error *err)
{
    collet_status status;

    *out = NULL;
    if (x->status != COLLET_OK)
        return trajectory_run_failed(x, x->status, err);
    status = begin(x, max_rows, &x->error);
    if (status == COLLET_OK)
        status = deliver(x, max_rows, out, &x->error);
    return status == COLLET_OK ? status : trajectory_run_failed(x, status, err);
}

collet_status collet_trajectory_next(collet_trajectory *x, const collet_trajectory_batch **out,
                                     collet_error *err)
{
    COLLET_FLOATING_SCOPE;
    return next(x, choose_rows(x), out, err);
}

collet_status collet_trajectory_collect(collet_trajectory *x, const collet_trajectory_batch **out,
                                        collet_error *err)
{
    COLLET_FLOATING_SCOPE;
    return next(x, INT64_MAX, out, err);
}

collet_status collet_trajectory_each(collet_trajectory *x, collet_trajectory_batch_fn take,
                                     void *user, collet_error *err)
{
    COLLET_FLOATING_SCOPE;
    for (;;) {
        const collet_trajectory_batch *batch;
        collet_status status = collet_trajectory_next(x, &batch, err);

        if (status != COLLET_OK || batch == NULL)
            return status;
        status = take(user, batch, &x->error);
        if (status != COLLET_OK && x->error.status != status)
            collet_fail(&x->error, status, "the callback returned %s at row %lld",
                        collet_status_name(status), (long long)batch->first_row);
        if (status != COLLET_OK)
            return trajectory_run_failed(x, status, err);
    }
}
