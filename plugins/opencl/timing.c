/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collet.timing/1: markers in a second queue, the only one with profiling, which is made for the
 * first stamp. So nothing is enqueued between the program's commands, and whoever does not measure
 * pays nothing.
 */
#include "opencl.h"

/* Under the queue's lock. */
static cl_int clock_queue(collet_queue *q)
{
    collet_device *d = q->base.device;
    cl_int error = CL_SUCCESS;
    sigset_t before;
    if (q->clock)
        return CL_SUCCESS;
    jit_signals_block(&before);
    q->clock = d->cl.CreateCommandQueue(d->context, d->id, CL_QUEUE_PROFILING_ENABLE, &error);
    jit_signals_restore(&before);
    if (error != CL_SUCCESS)
        q->clock = NULL;
    return error;
}

static collet_status stamp(collet_device *d, collet_queue *q, collet_stamp **out, collet_error *err)
{
    cl_event event = NULL;
    if (atomic_load(&d->base.lost))
        return jit_device_gone(d, err);
    pthread_mutex_lock(&q->base.lock);
    jit_queue_retire(q);
    cl_uint count = q->base.retired < q->base.submitted;
    cl_int error = clock_queue(q);
    if (error == CL_SUCCESS)
        error =
            d->cl.EnqueueMarkerWithWaitList(q->clock, count, count ? opencl_last(q) : NULL, &event);
    if (error == CL_SUCCESS)
        error = d->cl.Flush(q->clock);
    pthread_mutex_unlock(&q->base.lock);
    if (error != CL_SUCCESS) {
        if (event)
            d->cl.ReleaseEvent(event);
        return opencl_fail(d, error, "a marker with profiling", err);
    }
    *out = (collet_stamp *)(void *)event;
    return COLLET_OK;
}

static cl_event event_of(collet_stamp *stamp)
{
    return (cl_event)(void *)stamp;
}

static collet_status elapsed(collet_device *d, collet_stamp *first, collet_stamp *last,
                             int64_t *nanoseconds, collet_error *err)
{
    const cl_event events[] = {event_of(first), event_of(last)};
    cl_ulong times[2] = {0, 0};
    cl_int error = d->cl.WaitForEvents(2, events);
    for (int i = 0; i < 2 && error == CL_SUCCESS; i++)
        error = d->cl.GetEventProfilingInfo(events[i], CL_PROFILING_COMMAND_END, sizeof times[i],
                                            &times[i], NULL);
    if (error != CL_SUCCESS)
        return jit_after_first(opencl_fail(d, error, "the time of a marker", err));
    *nanoseconds = (int64_t)(times[1] - times[0]);
    return COLLET_OK;
}

static void release(collet_device *d, collet_stamp *stamp)
{
    if (stamp)
        d->cl.ReleaseEvent(event_of(stamp));
}

const collet_timing_extension opencl_timing = {sizeof opencl_timing, 0, stamp, elapsed, release};
