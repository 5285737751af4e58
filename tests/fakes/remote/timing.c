/* SPDX-License-Identifier: Apache-2.0 */
/* collet.timing/1 with a clock that kernels alone advance. */
#include <stdlib.h>

#include "remote.h"

struct collet_stamp {
    int64_t time;
};

static void count(collet_device *d, int change)
{
    if (d->control)
        d->control->stamps += change;
}

static collet_status read_clock(collet_device *d, task *t)
{
    t->stamp->time = d->clock;
    return COLLET_OK;
}

static collet_status stamp(collet_device *d, collet_queue *q, collet_stamp **out, collet_error *err)
{
    if (d->lost)
        return d->host->fail(err, COLLET_DEVICE_LOST, "the device is lost");
    task *t = task_new(d, read_clock);
    collet_stamp *s = calloc(1, sizeof *s);
    if (!t || !s) {
        free(t);
        free(s);
        return d->host->fail(err, COLLET_NO_MEMORY, "no memory for a stamp");
    }
    *out = t->stamp = s;
    count(d, 1);
    queue_push(q, t);
    return COLLET_OK;
}

static collet_status elapsed(collet_device *d, collet_stamp *first, collet_stamp *last,
                             int64_t *nanoseconds, collet_error *err)
{
    (void)d;
    (void)err;
    *nanoseconds = last->time - first->time;
    return COLLET_OK;
}

static void release(collet_device *d, collet_stamp *s)
{
    if (s)
        count(d, -1);
    free(s);
}

const collet_timing_extension remote_timing = {sizeof remote_timing, 0, stamp, elapsed, release};
