/* SPDX-License-Identifier: Apache-2.0 */
#include "opencl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct collet_event {
    pthread_mutex_t lock;
    cl_event marker; /* NULL: never recorded */
};

/* ---- Errors ---------------------------------------------------------------------------------- */

collet_status opencl_fail(collet_device *d, cl_int error, const char *what, collet_error *err)
{
    char text[32];
    collet_status status = COLLET_FAILED;
    if (error == CL_DEVICE_NOT_AVAILABLE || error == CL_INVALID_CONTEXT ||
        error == CL_INVALID_DEVICE) {
        atomic_store(&d->lost, 1);
        status = COLLET_DEVICE_LOST;
    } else if (error == CL_MEM_OBJECT_ALLOCATION_FAILURE || error == CL_OUT_OF_RESOURCES ||
               error == CL_OUT_OF_HOST_MEMORY) {
        status = COLLET_REFUSED;
    }
    return d->host->fail(err, status, "%s: %s", what, opencl_error_name(error, text));
}

/* ---- Commands -------------------------------------------------------------------------------- */

static opencl_command *command_of(collet_queue *q, uint64_t ticket)
{
    return &q->commands[ticket & (OPENCL_COMMANDS - 1)];
}

static cl_int event_status(const opencl_driver *cl, cl_event event)
{
    cl_int status = CL_COMPLETE;
    cl_int error =
        cl->GetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
    return error == CL_SUCCESS ? status : error;
}

static void note_failure(collet_queue *q, const opencl_command *c, cl_int error)
{
    char text[32];
    if (q->failure != COLLET_OK)
        return;
    q->failure = COLLET_FAILED;
    snprintf(q->failed, sizeof q->failed, "%s%s%s failed: %s", c->what, *c->label ? " " : "",
             c->label, opencl_error_name(error, text));
}

/* Forgets the commands that have passed, in order, up to the first that has not. */
static void retire(collet_queue *q)
{
    const opencl_driver *cl = &q->device->cl;
    while (q->retired < q->submitted) {
        opencl_command *c = command_of(q, q->retired + 1);
        cl_int status = event_status(cl, c->event);
        if (status > CL_COMPLETE)
            return;
        if (status < CL_COMPLETE)
            note_failure(q, c, status);
        cl->ReleaseEvent(c->event);
        free(c->staged);
        c->event = NULL;
        c->staged = NULL;
        q->retired++;
    }
}

/* Waits for the oldest command. One that failed counts as passed. */
static void retire_one(collet_queue *q)
{
    uint64_t before = q->retired;
    retire(q);
    if (q->retired != before || q->retired == q->submitted)
        return;
    q->device->cl.WaitForEvents(1, &command_of(q, q->retired + 1)->event);
    retire(q);
}

opencl_command *opencl_begin(collet_queue *q, const char *what, const char *label)
{
    while (q->submitted - q->retired == OPENCL_COMMANDS)
        retire_one(q);
    opencl_command *c = command_of(q, q->submitted + 1);
    c->event = NULL;
    c->staged = NULL;
    c->what = what;
    snprintf(c->label, sizeof c->label, "%s", label);
    return c;
}

uint64_t opencl_commit(collet_queue *q)
{
    /* A queue that is not flushed need not begin, and others may wait for it. */
    q->device->cl.Flush(q->handle);
    return ++q->submitted;
}

int device_queue_passed(collet_queue *q, uint64_t ticket)
{
    pthread_mutex_lock(&q->lock);
    if (q->retired < ticket)
        retire(q);
    int passed = q->retired >= ticket;
    pthread_mutex_unlock(&q->lock);
    return passed;
}

void device_queue_await(collet_queue *q, uint64_t ticket)
{
    pthread_mutex_lock(&q->lock);
    while (q->retired < ticket && q->retired < q->submitted)
        retire_one(q);
    pthread_mutex_unlock(&q->lock);
}

/* The event of a ticket that has not passed, retained; NULL when it has. */
static cl_event event_of(collet_queue *q, uint64_t ticket)
{
    cl_event event = NULL;
    pthread_mutex_lock(&q->lock);
    retire(q);
    if (q->retired < ticket)
        event = command_of(q, ticket)->event;
    if (event)
        q->device->cl.RetainEvent(event);
    pthread_mutex_unlock(&q->lock);
    return event;
}

/* Everything enqueued in `q` from now on starts after `event`. */
static collet_status order(collet_queue *q, cl_event event, collet_error *err)
{
    collet_device *d = q->device;
    pthread_mutex_lock(&q->lock);
    opencl_command *c = opencl_begin(q, "wait for another queue", "");
    cl_int error = d->cl.EnqueueBarrierWithWaitList(q->handle, 1, &event, &c->event);
    if (error == CL_SUCCESS)
        opencl_commit(q);
    pthread_mutex_unlock(&q->lock);
    return error == CL_SUCCESS ? COLLET_OK : opencl_fail(d, error, "waiting for a queue", err);
}

collet_status device_queue_order(collet_queue *q, collet_queue *other, uint64_t ticket,
                                 collet_error *err)
{
    cl_event event = event_of(other, ticket);
    if (!event)
        return COLLET_OK;
    collet_status status = order(q, event, err);
    q->device->cl.ReleaseEvent(event);
    return status;
}

/* ---- Queues ---------------------------------------------------------------------------------- */

static collet_queue *idle_queue(collet_device *d)
{
    pthread_mutex_lock(&d->lock);
    collet_queue *q = d->queues;
    while (q && !q->idle)
        q = q->next;
    if (q)
        q->idle = 0;
    pthread_mutex_unlock(&d->lock);
    return q;
}

static void queue_free(collet_device *d, collet_queue *q)
{
    if (q->handle)
        d->cl.ReleaseCommandQueue(q->handle);
    opencl_kernels_destroy(&d->cl, q->kernels);
    pthread_mutex_destroy(&q->lock);
    free(q);
}

collet_status opencl_queue_create(collet_device *d, collet_queue **queue, collet_error *err)
{
    cl_int error = CL_SUCCESS;
    collet_queue *q = idle_queue(d);
    if (q) {
        *queue = q;
        return COLLET_OK;
    }
    q = calloc(1, sizeof *q);
    if (!q)
        return d->host->fail(err, COLLET_NO_MEMORY, "no memory for a queue");
    if (pthread_mutex_init(&q->lock, NULL)) {
        free(q);
        return d->host->fail(err, COLLET_NO_MEMORY, "no lock for a queue");
    }
    q->device = d;
    q->kernels = opencl_kernels_create();
    if (!q->kernels) {
        queue_free(d, q);
        return d->host->fail(err, COLLET_NO_MEMORY, "no memory for a queue");
    }
    q->handle = d->cl.CreateCommandQueue(d->context, d->id, CL_QUEUE_PROFILING_ENABLE, &error);
    if (error != CL_SUCCESS) {
        q->handle = NULL;
        queue_free(d, q);
        collet_status status = opencl_fail(d, error, "a command queue", err);
        return status == COLLET_REFUSED ? COLLET_FAILED : status;
    }
    pthread_mutex_lock(&d->lock);
    q->next = d->queues;
    d->queues = q;
    pthread_mutex_unlock(&d->lock);
    *queue = q;
    return COLLET_OK;
}

/* The handle lives on: freed buffers may still name tickets of it. */
void opencl_queue_destroy(collet_device *d, collet_queue *q)
{
    if (!q)
        return;
    opencl_queue_wait(d, q, NULL);
    pthread_mutex_lock(&d->lock);
    q->idle = 1;
    pthread_mutex_unlock(&d->lock);
}

void opencl_queues_free(collet_device *d)
{
    while (d->queues) {
        collet_queue *q = d->queues;
        d->queues = q->next;
        opencl_queue_wait(d, q, NULL);
        queue_free(d, q);
    }
}

/* Whether the device still does anything, after a command has failed. */
static int answers(collet_queue *q)
{
    const opencl_driver *cl = &q->device->cl;
    cl_event event = NULL;
    cl_int error = cl->EnqueueMarkerWithWaitList(q->handle, 0, NULL, &event);
    if (error == CL_SUCCESS)
        error = cl->Finish(q->handle);
    if (event)
        cl->ReleaseEvent(event);
    return error == CL_SUCCESS;
}

/* Under the queue's lock: what has failed since the last wait. */
static collet_status outcome(collet_queue *q, collet_error *err)
{
    collet_device *d = q->device;
    collet_status status = q->failure;
    q->failure = COLLET_OK;
    if (status == COLLET_OK)
        return COLLET_OK;
    if (!answers(q)) {
        atomic_store(&d->lost, 1);
        return d->host->fail(err, COLLET_DEVICE_LOST, "%s, and the device answers no more",
                             q->failed);
    }
    return d->host->fail(err, status, "%s", q->failed);
}

collet_status opencl_queue_check(collet_queue *q, collet_error *err)
{
    pthread_mutex_lock(&q->lock);
    retire(q);
    collet_status status = q->failure;
    if (status != COLLET_OK)
        q->device->host->fail(err, status, "%s", q->failed);
    pthread_mutex_unlock(&q->lock);
    return status;
}

collet_status opencl_queue_wait(collet_device *d, collet_queue *q, collet_error *err)
{
    pthread_mutex_lock(&q->lock);
    cl_int error = d->cl.Finish(q->handle);
    while (q->retired < q->submitted)
        retire_one(q);
    collet_status status = outcome(q, err);
    pthread_mutex_unlock(&q->lock);
    if (status != COLLET_OK || error == CL_SUCCESS)
        return status;
    status = opencl_fail(d, error, "waiting for the device", err);
    return device_after_first(status);
}

/* ---- Events ---------------------------------------------------------------------------------- */

collet_status opencl_event_create(collet_device *d, collet_event **event, collet_error *err)
{
    collet_event *e = calloc(1, sizeof *e);
    if (!e || pthread_mutex_init(&e->lock, NULL)) {
        free(e);
        return d->host->fail(err, COLLET_NO_MEMORY, "no memory for an event");
    }
    *event = e;
    return COLLET_OK;
}

void opencl_event_destroy(collet_device *d, collet_event *e)
{
    if (!e)
        return;
    if (e->marker)
        d->cl.ReleaseEvent(e->marker);
    pthread_mutex_destroy(&e->lock);
    free(e);
}

collet_status opencl_event_record(collet_device *d, collet_event *e, collet_queue *q,
                                  collet_error *err)
{
    pthread_mutex_lock(&q->lock);
    opencl_command *c = opencl_begin(q, "an event", "");
    cl_int error = d->cl.EnqueueMarkerWithWaitList(q->handle, 0, NULL, &c->event);
    if (error == CL_SUCCESS) {
        pthread_mutex_lock(&e->lock);
        if (e->marker)
            d->cl.ReleaseEvent(e->marker);
        e->marker = c->event;
        d->cl.RetainEvent(e->marker);
        pthread_mutex_unlock(&e->lock);
        opencl_commit(q);
    }
    pthread_mutex_unlock(&q->lock);
    return error == CL_SUCCESS ? COLLET_OK : opencl_fail(d, error, "recording an event", err);
}

/* The marker, retained, or NULL. */
static cl_event marker_of(collet_device *d, collet_event *e)
{
    pthread_mutex_lock(&e->lock);
    cl_event marker = e->marker;
    if (marker)
        d->cl.RetainEvent(marker);
    pthread_mutex_unlock(&e->lock);
    return marker;
}

/* What failed before it is told by the queue's wait. */
collet_status opencl_event_query(collet_device *d, collet_event *e, collet_error *err)
{
    cl_event marker = marker_of(d, e);
    if (!marker)
        return COLLET_OK;
    cl_int status = event_status(&d->cl, marker);
    d->cl.ReleaseEvent(marker);
    if (atomic_load(&d->lost))
        return d->host->fail(err, COLLET_DEVICE_LOST, "the device is lost");
    return status > CL_COMPLETE ? COLLET_NOT_READY : COLLET_OK;
}

collet_status opencl_event_wait(collet_device *d, collet_event *e, collet_error *err)
{
    cl_event marker = marker_of(d, e);
    if (!marker)
        return COLLET_OK;
    d->cl.WaitForEvents(1, &marker);
    d->cl.ReleaseEvent(marker);
    if (atomic_load(&d->lost))
        return d->host->fail(err, COLLET_DEVICE_LOST, "the device is lost");
    return COLLET_OK;
}

collet_status opencl_queue_wait_event(collet_device *d, collet_queue *q, collet_event *e,
                                      collet_error *err)
{
    cl_event marker = marker_of(d, e);
    if (!marker)
        return COLLET_OK;
    collet_status status = order(q, marker, err);
    d->cl.ReleaseEvent(marker);
    return status;
}

static cl_int ended(collet_device *d, collet_event *e, cl_ulong *nanoseconds)
{
    cl_event marker = marker_of(d, e);
    *nanoseconds = 0;
    if (!marker)
        return CL_INVALID_EVENT;
    cl_int error = d->cl.GetEventProfilingInfo(marker, CL_PROFILING_COMMAND_END,
                                               sizeof *nanoseconds, nanoseconds, NULL);
    d->cl.ReleaseEvent(marker);
    return error;
}

collet_status opencl_event_elapsed(collet_device *d, collet_event *first, collet_event *last,
                                   double *milliseconds, collet_error *err)
{
    cl_ulong begin, end;
    cl_int error = ended(d, first, &begin);
    if (error == CL_SUCCESS)
        error = ended(d, last, &end);
    if (error != CL_SUCCESS)
        return device_after_first(opencl_fail(d, error, "the time of an event", err));
    *milliseconds = end >= begin ? (double)(end - begin) * 1e-6 : -(double)(begin - end) * 1e-6;
    return COLLET_OK;
}
