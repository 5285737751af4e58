/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/opencl/test_opencl.c, tests/opencl/test_opencl_driver.c, conformance/verbs/timing.c */
#include "opencl.h"

#include <stdlib.h>
#include <string.h>

/* ---- Errors ---------------------------------------------------------------------------------- */

collet_status opencl_fail(collet_device *d, cl_int error, const char *what, collet_error *err)
{
    char text[32];
    collet_status status = COLLET_FAILED;
    if (error == CL_DEVICE_NOT_AVAILABLE || error == CL_INVALID_CONTEXT ||
        error == CL_INVALID_DEVICE) {
        atomic_store(&d->base.lost, 1);
        status = COLLET_DEVICE_LOST;
    } else if (error == CL_MEM_OBJECT_ALLOCATION_FAILURE || error == CL_OUT_OF_RESOURCES ||
               error == CL_OUT_OF_HOST_MEMORY) {
        status = COLLET_REFUSED;
    }
    return d->base.host->fail(err, status, "%s: %s", what, opencl_error_name(error, text));
}

collet_status opencl_gone(collet_device *d, collet_error *err)
{
    return d->base.host->fail(err, COLLET_DEVICE_LOST, "the device is lost");
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
    jit_queue_fail(q, COLLET_FAILED, "%s failed: %s", c->label, opencl_error_name(error, text));
}

/* Retires completed commands, in order, up to the first pending command. */
static void retire(collet_queue *q)
{
    const opencl_driver *cl = &q->base.device->cl;
    while (q->base.retired < q->base.submitted) {
        opencl_command *c = command_of(q, q->base.retired + 1);
        cl_int status = event_status(cl, c->event);
        if (status > CL_COMPLETE)
            return;
        if (status < CL_COMPLETE)
            note_failure(q, c, status);
        cl->ReleaseEvent(c->event);
        free(c->staged);
        c->event = NULL;
        c->staged = NULL;
        q->base.retired++;
    }
}

/* Waits for the oldest command. A failed command counts as complete. */
static void retire_one(collet_queue *q)
{
    uint64_t before = q->base.retired;
    retire(q);
    if (q->base.retired != before || q->base.retired == q->base.submitted)
        return;
    q->base.device->cl.WaitForEvents(1, &command_of(q, q->base.retired + 1)->event);
    retire(q);
}

opencl_command *opencl_begin(collet_queue *q, const char *label)
{
    while (q->base.submitted - q->base.retired == OPENCL_COMMANDS)
        retire_one(q);
    opencl_command *c = command_of(q, q->base.submitted + 1);
    c->event = NULL;
    c->staged = NULL;
    c->label = label;
    return c;
}

uint64_t opencl_commit(collet_queue *q)
{
    /* Flush, because otherwise the device may not start the command, and other queues may wait for this queue. */
    q->base.device->cl.Flush(q->handle);
    return ++q->base.submitted;
}

opencl_command *opencl_start(collet_queue *q, const char *label)
{
    pthread_mutex_lock(&q->base.lock);
    return opencl_begin(q, label);
}

collet_status opencl_finish(collet_queue *q, cl_int error, uint64_t *ticket, collet_error *err)
{
    const char *label = command_of(q, q->base.submitted + 1)->label;
    uint64_t number = error == CL_SUCCESS ? opencl_commit(q) : 0;
    pthread_mutex_unlock(&q->base.lock);
    if (error != CL_SUCCESS)
        return opencl_fail(q->base.device, error, label, err);
    if (ticket)
        *ticket = number;
    return COLLET_OK;
}

static void reach(collet_queue *q, uint64_t ticket)
{
    while (q->base.retired < ticket && q->base.retired < q->base.submitted)
        retire_one(q);
}

/* The event of a pending ticket, retained; NULL if it is complete. */
static cl_event event_of(collet_queue *q, uint64_t ticket)
{
    cl_event event = NULL;
    pthread_mutex_lock(&q->base.lock);
    retire(q);
    if (q->base.retired < ticket)
        event = command_of(q, ticket)->event;
    if (event)
        q->base.device->cl.RetainEvent(event);
    pthread_mutex_unlock(&q->base.lock);
    return event;
}

static void block(collet_queue *q, uint64_t ticket)
{
    cl_event event = event_of(q, ticket);
    if (!event)
        return;
    q->base.device->cl.WaitForEvents(1, &event);
    q->base.device->cl.ReleaseEvent(event);
}

typedef struct event_link {
    cl_int (*set)(cl_event event, cl_int status);
    cl_int (*release)(cl_event event);
    cl_event event;
} event_link;

static void pass_on(cl_event event, cl_int status, void *argument)
{
    event_link *l = argument;
    (void)event;
    l->set(l->event, status < CL_COMPLETE ? status : CL_COMPLETE);
    l->release(l->event);
    free(l);
}

/* An event of d's context that completes, or fails, when `event` of another context does; NULL if
 * it cannot be created. The caller releases it. */
static cl_event event_in_context(collet_device *d, cl_event event)
{
    cl_int error = CL_SUCCESS;
    event_link *l = malloc(sizeof *l);
    cl_event here = l ? d->cl.CreateUserEvent(d->context, &error) : NULL;
    if (!here || error != CL_SUCCESS) {
        free(l);
        return NULL;
    }
    *l = (event_link){d->cl.SetUserEventStatus, d->cl.ReleaseEvent, here};
    d->cl.RetainEvent(here);
    if (d->cl.SetEventCallback(event, CL_COMPLETE, pass_on, l) == CL_SUCCESS)
        return here;
    d->cl.SetUserEventStatus(here, CL_COMPLETE);
    d->cl.ReleaseEvent(here);
    d->cl.ReleaseEvent(here);
    free(l);
    return NULL;
}

/* Orders everything enqueued in `q` from now on after `event`. */
static collet_status order_after(collet_queue *q, cl_event event, collet_error *err)
{
    opencl_command *c = opencl_start(q, "waiting for another queue");
    return opencl_finish(
        q, q->base.device->cl.EnqueueBarrierWithWaitList(q->handle, 1, &event, &c->event), NULL,
        err);
}

static collet_status order(collet_queue *q, collet_queue *other, uint64_t ticket, collet_error *err)
{
    collet_device *d = q->base.device;
    cl_event event = event_of(other, ticket);
    if (!event)
        return COLLET_OK;
    if (other->base.device != d) {
        cl_event here = event_in_context(d, event);
        d->cl.ReleaseEvent(event);
        event = here;
    }
    if (!event)
        return d->base.host->fail(err, COLLET_REFUSED, "no event between two contexts");
    collet_status status = order_after(q, event, err);
    d->cl.ReleaseEvent(event);
    return status;
}

/* ---- Queues ---------------------------------------------------------------------------------- */

static collet_status queue_open(collet_queue *q, collet_error *err)
{
    cl_int error = CL_SUCCESS;
    collet_device *d = q->base.device;
    q->handle = d->cl.CreateCommandQueue(d->context, d->id, 0, &error);
    if (error == CL_SUCCESS)
        return COLLET_OK;
    q->handle = NULL;
    return opencl_fail(d, error, "a command queue", err);
}

cl_int opencl_profile(collet_queue *q)
{
    collet_device *d = q->base.device;
    cl_int error = CL_SUCCESS;
    sigset_t before;
    if (q->before)
        return CL_SUCCESS;
    jit_signals_block(&before);
    cl_command_queue handle =
        d->cl.CreateCommandQueue(d->context, d->id, CL_QUEUE_PROFILING_ENABLE, &error);
    jit_signals_restore(&before);
    if (error != CL_SUCCESS)
        return error;
    opencl_command *c = opencl_begin(q, "another queue, with profiling");
    retire(q);
    int pending = q->base.retired < q->base.submitted;
    if (pending)
        error = d->cl.EnqueueBarrierWithWaitList(
            handle, 1, &command_of(q, q->base.submitted)->event, &c->event);
    if (error != CL_SUCCESS) {
        d->cl.ReleaseCommandQueue(handle);
        return error;
    }
    q->before = q->handle;
    q->handle = handle;
    if (pending)
        opencl_commit(q);
    return CL_SUCCESS;
}

static void queue_close(collet_queue *q)
{
    collet_device *d = q->base.device;
    if (q->before)
        d->cl.ReleaseCommandQueue(q->before);
    if (q->handle)
        d->cl.ReleaseCommandQueue(q->handle);
    jit_kernels_clear(d, &q->kernels);
}

/* Whether the device still responds, after a command has failed. */
static int responds(collet_queue *q)
{
    const opencl_driver *cl = &q->base.device->cl;
    cl_event event = NULL;
    cl_int error = cl->EnqueueMarkerWithWaitList(q->handle, 0, NULL, &event);
    if (error == CL_SUCCESS)
        error = cl->Finish(q->handle);
    if (event)
        cl->ReleaseEvent(event);
    return error == CL_SUCCESS;
}

static void drain(collet_queue *q)
{
    collet_device *d = q->base.device;
    collet_error err = {COLLET_OK, ""};
    cl_int error = d->cl.Finish(q->handle);
    reach(q, q->base.submitted);
    if (error != CL_SUCCESS) {
        collet_status status = opencl_fail(d, error, "waiting for the device", &err);
        jit_queue_fail(q, jit_after_first(status), "%s", err.text);
    }
    if (q->base.failure == COLLET_FAILED && !responds(q)) {
        atomic_store(&d->base.lost, 1);
        q->base.failure = COLLET_DEVICE_LOST;
        strncat(q->base.failed, ", and the device no longer responds",
                sizeof q->base.failed - strlen(q->base.failed) - 1);
    }
}

/* Frees the kernels. First waits for all commands, because pending commands refer to labels of kernels. */
static void trim(collet_queue *q)
{
    reach(q, q->base.submitted);
    jit_kernels_clear(q->base.device, &q->kernels);
}

/* There is no slot `mark`, because each command has an event. */
const jit_queue_slots opencl_queues = {
    .open = queue_open,
    .close = queue_close,
    .order = order,
    .block = block,
    .retire = retire,
    .reach = reach,
    .drain = drain,
    .trim = trim,
};

/* collet.timing/1: a stamp is a marker in a queue with profiling. Only the first stamp replaces the queue's handle
 * by a handle with profiling, so that programs that measure nothing have no overhead. Markers in a separate queue
 * would be late: PoCL runs later commands first.
 */

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

static cl_event stamp_event(collet_stamp *stamp)
{
    return (cl_event)(void *)stamp;
}

static collet_status elapsed(collet_device *d, collet_stamp *first, collet_stamp *last,
                             int64_t *nanoseconds, collet_error *err)
{
    const cl_event events[] = {stamp_event(first), stamp_event(last)};
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
        d->cl.ReleaseEvent(stamp_event(stamp));
}

const collet_timing_extension opencl_timing = {sizeof opencl_timing, 0, stamp, elapsed, release};
