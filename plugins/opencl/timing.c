/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collet.timing/1: markers in a queue with profiling. Such a queue replaces the queue's handle only at the first
 * stamp, because profiling has a cost. Markers in a separate queue are late: PoCL runs later commands first.
 * Tests: tests/opencl/test_opencl_driver.c, conformance/verbs/timing.c
 */
#include "opencl.h"

static collet_status stamp(collet_device *d, collet_queue *q, collet_stamp **out, collet_error *err)
{
    cl_event event = NULL;
    collet_status status = jit_check(d, err);
    if (status != COLLET_OK)
        return status;
    pthread_mutex_lock(&q->base.lock);
    cl_int error = opencl_profile(q);
    if (error == CL_SUCCESS)
        error = d->cl.EnqueueMarkerWithWaitList(q->handle, 0, NULL, &event);
    if (error == CL_SUCCESS)
        error = d->cl.Flush(q->handle);
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
