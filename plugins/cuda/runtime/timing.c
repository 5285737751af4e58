/* SPDX-License-Identifier: Apache-2.0 */
/* collet.timing/1: events with timestamps; the events of marks have no timestamps.
 * Tests: tests/cuda/test_cuda_device.c */
#include "backend.h"

#include <math.h>

static CUresult record(collet_queue *q, CUevent *event)
{
    const cuda_driver *cu = &q->base.device->cu;
    CUresult error = cu->EventCreate(event, CU_EVENT_DEFAULT);
    if (error != CUDA_SUCCESS)
        return error;
    pthread_mutex_lock(&q->base.lock);
    error = cu->EventRecord(*event, q->handle);
    pthread_mutex_unlock(&q->base.lock);
    if (error != CUDA_SUCCESS)
        cu->EventDestroy(*event);
    return error;
}

static collet_status stamp(collet_device *d, collet_queue *q, collet_stamp **out, collet_error *err)
{
    CUevent event = NULL;
    collet_status status = jit_check(d, err);
    if (status != COLLET_OK)
        return status;
    CUresult error = CUDA_IN_CONTEXT(d, record(q, &event));
    if (error != CUDA_SUCCESS)
        return cuda_fail(d, error, "an event with a time", err);
    *out = (collet_stamp *)(void *)event;
    return COLLET_OK;
}

static CUevent event_of(collet_stamp *stamp)
{
    return (CUevent)(void *)stamp;
}

static CUresult milliseconds(collet_device *d, CUevent first, CUevent last, float *ms)
{
    CUresult error = d->cu.EventSynchronize(first);
    if (error == CUDA_SUCCESS)
        error = d->cu.EventSynchronize(last);
    return error == CUDA_SUCCESS ? d->cu.EventElapsedTime(ms, first, last) : error;
}

static collet_status elapsed(collet_device *d, collet_stamp *first, collet_stamp *last,
                             int64_t *nanoseconds, collet_error *err)
{
    float ms = 0;
    CUresult error = CUDA_IN_CONTEXT(d, milliseconds(d, event_of(first), event_of(last), &ms));
    if (error != CUDA_SUCCESS)
        return jit_after_first(cuda_fail(d, error, "the time between two events", err));
    *nanoseconds = llround((double)ms * 1e6);
    return COLLET_OK;
}

static void release(collet_device *d, collet_stamp *stamp)
{
    if (stamp)
        (void)CUDA_IN_CONTEXT(d, d->cu.EventDestroy(event_of(stamp)));
}

const collet_timing_extension cuda_timing = {sizeof cuda_timing, 0, stamp, elapsed, release};
