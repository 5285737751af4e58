/* SPDX-License-Identifier: Apache-2.0 */
#include "backend.h"

#include <stdlib.h>

struct collet_event {
    CUevent handle;
    _Atomic int recorded;
};

collet_status jit_event_create(collet_device *d, collet_event **event, collet_error *err)
{
    collet_event *e = calloc(1, sizeof *e);
    if (!e)
        return d->base.host->fail(err, COLLET_NO_MEMORY, "out of memory for an event");
    CUresult error = CUDA_IN_CONTEXT(d, d->cu.EventCreate(&e->handle, CU_EVENT_DEFAULT));
    if (error != CUDA_SUCCESS) {
        free(e);
        return jit_after_first(cuda_fail(d, error, "an event", err));
    }
    *event = e;
    return COLLET_OK;
}

/* The driver keeps an event alive while a stream waits for it. */
void jit_event_destroy(collet_device *d, collet_event *e)
{
    if (!e)
        return;
    (void)CUDA_IN_CONTEXT(d, d->cu.EventDestroy(e->handle));
    free(e);
}

static collet_status status_of(collet_device *d, CUresult error, const char *what,
                               collet_error *err)
{
    return error == CUDA_SUCCESS ? COLLET_OK : jit_after_first(cuda_fail(d, error, what, err));
}

collet_status jit_event_record(collet_device *d, collet_event *e, collet_queue *q,
                               collet_error *err)
{
    CUresult error = CUDA_IN_CONTEXT(d, d->cu.EventRecord(e->handle, q->handle));
    if (error == CUDA_SUCCESS)
        atomic_store(&e->recorded, 1);
    return status_of(d, error, "recording an event", err);
}

/* The queue's wait reports commands that failed before the event; a lost device is reported here
 * too. */
static collet_status status_after(collet_device *d, CUresult error, collet_error *err)
{
    if (error == CUDA_ERROR_NOT_READY)
        return COLLET_NOT_READY;
    if (error == CUDA_SUCCESS && atomic_load(&d->base.lost))
        return jit_device_gone(d, err);
    return status_of(d, error, "an event", err);
}

collet_status jit_event_query(collet_device *d, collet_event *e, collet_error *err)
{
    if (!atomic_load(&e->recorded))
        return COLLET_OK;
    return status_after(d, CUDA_IN_CONTEXT(d, d->cu.EventQuery(e->handle)), err);
}

collet_status jit_event_wait(collet_device *d, collet_event *e, collet_error *err)
{
    if (!atomic_load(&e->recorded))
        return COLLET_OK;
    return status_after(d, CUDA_IN_CONTEXT(d, d->cu.EventSynchronize(e->handle)), err);
}

collet_status jit_queue_wait_event(collet_device *d, collet_queue *q, collet_event *e,
                                   collet_error *err)
{
    if (!atomic_load(&e->recorded))
        return COLLET_OK;
    CUresult error = CUDA_IN_CONTEXT(d, d->cu.StreamWaitEvent(q->handle, e->handle, 0));
    return status_of(d, error, "waiting for an event", err);
}

collet_status jit_event_elapsed(collet_device *d, collet_event *first, collet_event *last,
                                double *milliseconds, collet_error *err)
{
    float elapsed = 0.0f;
    CUresult error =
        CUDA_IN_CONTEXT(d, d->cu.EventElapsedTime(&elapsed, first->handle, last->handle));
    if (error == CUDA_SUCCESS)
        *milliseconds = (double)elapsed;
    return status_of(d, error, "the time between events", err);
}
