/* SPDX-License-Identifier: Apache-2.0 */
/* collet.timing/1 by the host's clock, or (remote.kernel_ns) by a clock that only kernels
 * advance. */
#include <stdlib.h>
#include <time.h>

#include "remote.h"

static void count(collet_device *d, int change)
{
    if (d->control)
        d->control->stamps += change;
}

static collet_status read_clock(collet_device *d, task *t)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    t->stamp->time = d->kernel_ns ? d->clock : (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
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
    s->pending = 1;
    *out = t->stamp = s;
    count(d, 1);
    queue_push(q, t);
    return COLLET_OK;
}

static collet_status elapsed(collet_device *d, collet_stamp *first, collet_stamp *last,
                             int64_t *nanoseconds, collet_error *err)
{
    *nanoseconds = last->time - first->time;
    return COLLET_OK;
}

/* Aborts if libcore frees a timestamp that a command has yet to set. */
static void release(collet_device *d, collet_stamp *s)
{
    if (s && s->pending)
        abort();
    if (s)
        count(d, -1);
    free(s);
}

const collet_timing_extension remote_timing = {sizeof remote_timing, 0, stamp, elapsed, release};
