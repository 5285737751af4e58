/* SPDX-License-Identifier: Apache-2.0 */
#include "backend.h"

#include <stdlib.h>

struct collet_event {
    CUevent handle;
    _Atomic int recorded;
};

collet_status cuda_event_create(collet_device *d, collet_event **event, collet_error *err)
{
    collet_event *e = calloc(1, sizeof *e);
    if (!e)
        return d->base.host->fail(err, COLLET_NO_MEMORY, "out of memory for an event");
    CUresult error = cuda_enter(d);
    if (error == CUDA_SUCCESS) {
        error = d->cu.EventCreate(&e->handle, CU_EVENT_DEFAULT);
        cuda_leave(d);
    }
    if (error != CUDA_SUCCESS) {
        free(e);
        return jit_after_first(cuda_fail(d, error, "an event", err));
    }
    *event = e;
    return COLLET_OK;
}

/* The driver keeps an event alive while a stream waits for it. */
void cuda_event_destroy(collet_device *d, collet_event *e)
{
    if (!e)
        return;
    if (cuda_enter(d) == CUDA_SUCCESS) {
        d->cu.EventDestroy(e->handle);
        cuda_leave(d);
    }
    free(e);
}

collet_status cuda_event_record(collet_device *d, collet_event *e, collet_queue *q,
                                collet_error *err)
{
    CUresult error = cuda_enter(d);
    if (error == CUDA_SUCCESS) {
        error = d->cu.EventRecord(e->handle, q->handle);
        cuda_leave(d);
    }
    if (error != CUDA_SUCCESS)
        return jit_after_first(cuda_fail(d, error, "recording an event", err));
    atomic_store(&e->recorded, 1);
    return COLLET_OK;
}

/* The queue's wait reports commands that failed before the event; a lost device is reported here
 * too. */
static collet_status status_of(collet_device *d, CUresult error, collet_error *err)
{
    if (error == CUDA_SUCCESS)
        return atomic_load(&d->base.lost) ? jit_device_gone(d, err) : COLLET_OK;
    if (error == CUDA_ERROR_NOT_READY)
        return COLLET_NOT_READY;
    return jit_after_first(cuda_fail(d, error, "an event", err));
}

collet_status cuda_event_query(collet_device *d, collet_event *e, collet_error *err)
{
    if (!atomic_load(&e->recorded))
        return COLLET_OK;
    CUresult error = cuda_enter(d);
    if (error == CUDA_SUCCESS) {
        error = d->cu.EventQuery(e->handle);
        cuda_leave(d);
    }
    return status_of(d, error, err);
}

collet_status cuda_event_wait(collet_device *d, collet_event *e, collet_error *err)
{
    if (!atomic_load(&e->recorded))
        return COLLET_OK;
    CUresult error = cuda_enter(d);
    if (error == CUDA_SUCCESS) {
        error = d->cu.EventSynchronize(e->handle);
        cuda_leave(d);
    }
    return status_of(d, error, err);
}

collet_status cuda_queue_wait_event(collet_device *d, collet_queue *q, collet_event *e,
                                    collet_error *err)
{
    if (!atomic_load(&e->recorded))
        return COLLET_OK;
    CUresult error = cuda_enter(d);
    if (error == CUDA_SUCCESS) {
        error = d->cu.StreamWaitEvent(q->handle, e->handle, 0);
        cuda_leave(d);
    }
    return error == CUDA_SUCCESS
               ? COLLET_OK
               : jit_after_first(cuda_fail(d, error, "waiting for an event", err));
}

collet_status cuda_event_elapsed(collet_device *d, collet_event *first, collet_event *last,
                                 double *milliseconds, collet_error *err)
{
    float elapsed = 0.0f;
    CUresult error = cuda_enter(d);
    if (error == CUDA_SUCCESS) {
        error = d->cu.EventElapsedTime(&elapsed, first->handle, last->handle);
        cuda_leave(d);
    }
    if (error != CUDA_SUCCESS)
        return jit_after_first(cuda_fail(d, error, "the time between events", err));
    *milliseconds = (double)elapsed;
    return COLLET_OK;
}
