/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams and their progress. A call may be many commands, and recording an event costs as much as
 * a launch, so a queue records one event, a mark, at the end of a call.
 * Tests: tests/cuda/test_cuda_device.c, tests/cuda/test_cuda_launch.c
 */
#include "backend.h"

#include <math.h>
#include <stdio.h>

/* ---- Marks ----------------------------------------------------------------------------------- */

static cuda_mark *mark_at(collet_queue *q, uint64_t i)
{
    return &q->marks[(q->first_mark + i) % CUDA_MARKS];
}

/* If all marks are pending, the oldest mark is reused. When a later mark is reached, the oldest mark has been
 * reached too. */
CUresult cuda_mark_now(collet_queue *q)
{
    CUresult error = cuda_submit(q);
    if (error != CUDA_SUCCESS)
        return error;
    if (q->mark_count && mark_at(q, q->mark_count - 1)->ticket == q->base.submitted)
        return CUDA_SUCCESS;
    if (q->mark_count == CUDA_MARKS) {
        q->first_mark++;
        q->mark_count--;
    }
    cuda_mark *mark = mark_at(q, q->mark_count);
    error = q->base.device->cu.EventRecord(mark->event, q->handle);
    if (error != CUDA_SUCCESS)
        return error;
    mark->ticket = q->base.submitted;
    q->mark_count++;
    return CUDA_SUCCESS;
}

uint64_t cuda_commit(collet_queue *q, const char *label)
{
    uint64_t ticket = ++q->base.submitted;
    q->labels[ticket & (CUDA_LABELS - 1)] = label;
    return ticket;
}

/* All commands are complete, except the launches that are held. */
static void all_passed(collet_queue *q)
{
    q->base.retired = q->base.submitted - cuda_batch_held(q);
    q->first_mark += q->mark_count;
    q->mark_count = 0;
}

/* ---- Failures -------------------------------------------------------------------------------- */

/* Lists the pending commands: any of them may have failed. */
static int suspects(const collet_queue *q, char *text, size_t size)
{
    uint64_t count = q->base.submitted - q->base.retired, first = q->base.retired + 1;
    if (count > CUDA_LABELS)
        first = q->base.submitted - CUDA_LABELS + 1;
    int used =
        count > 1 ? snprintf(text, size, "one of %llu commands (", (unsigned long long)count) : 0;
    const char *last = NULL;
    for (uint64_t i = first; i <= q->base.submitted && (size_t)used + 1 < size; i++) {
        const char *label = q->labels[i & (CUDA_LABELS - 1)];
        if (label == last)
            continue;
        used += snprintf(text + used, size - (size_t)used, "%s%s", last ? ", " : "", label);
        last = label;
    }
    if (count > 1 && (size_t)used + 1 < size)
        used += snprintf(text + used, size - (size_t)used, ")");
    return used;
}

void cuda_note_error(collet_queue *q, CUresult error)
{
    char text[JIT_MESSAGE - 170] = "", why[160];
    collet_error err = {COLLET_OK, ""};
    if (q->base.submitted > q->base.retired)
        suspects(q, text, sizeof text);
    collet_status status = jit_after_first(cuda_fail(q->base.device, error, "", &err));
    jit_queue_fail(q, status, "%s%s%s", text, *text ? " failed: " : "",
                   cuda_error_text(&q->base.device->cu, error, why));
    cuda_batch_drop(q);
    all_passed(q);
}

CUresult cuda_submit(collet_queue *q)
{
    CUresult error = cuda_batch_submit(q);
    if (error != CUDA_SUCCESS)
        cuda_note_error(q, error);
    return error;
}

/* ---- Tickets --------------------------------------------------------------------------------- */

/* Marks complete in order. */
static CUresult query(collet_queue *q)
{
    const cuda_driver *cu = &q->base.device->cu;
    while (q->mark_count) {
        CUresult error = cu->EventQuery(mark_at(q, 0)->event);
        if (error != CUDA_SUCCESS)
            return error;
        q->base.retired = mark_at(q, 0)->ticket;
        q->first_mark++;
        q->mark_count--;
    }
    if (q->base.retired + cuda_batch_held(q) == q->base.submitted)
        return CUDA_SUCCESS;
    CUresult error = cu->StreamQuery(q->handle);
    if (error == CUDA_SUCCESS)
        all_passed(q);
    return error;
}

static void retire(collet_queue *q)
{
    if (cuda_enter(q->base.device) != CUDA_SUCCESS)
        return;
    CUresult error = query(q);
    if (error != CUDA_SUCCESS && error != CUDA_ERROR_NOT_READY)
        cuda_note_error(q, error);
    cuda_leave(q->base.device);
}

/* Also ends a batch: the queue may be idle afterwards, and another program may get it. */
static void drain(collet_queue *q)
{
    CUresult error = cuda_enter(q->base.device);
    if (error == CUDA_SUCCESS) {
        (void)cuda_submit(q);
        error = q->base.device->cu.StreamSynchronize(q->handle);
        cuda_leave(q->base.device);
    }
    if (error != CUDA_SUCCESS)
        cuda_note_error(q, error);
    cuda_batch_end(q);
    all_passed(q);
}

/* Finds the first mark of `other` at or after `ticket`; records one if necessary. The caller holds the lock of
 * `other`. */
static CUresult mark_from(collet_queue *other, uint64_t ticket, CUevent *event)
{
    CUresult error = CUDA_SUCCESS;
    *event = NULL;
    for (uint64_t i = 0; i < other->mark_count && !*event; i++)
        if (mark_at(other, i)->ticket >= ticket)
            *event = mark_at(other, i)->event;
    if (!*event) {
        error = cuda_mark_now(other);
        if (error == CUDA_SUCCESS)
            *event = mark_at(other, other->mark_count - 1)->event;
    }
    return error;
}

static void reach(collet_queue *q, uint64_t ticket)
{
    CUevent event;
    CUresult error = cuda_enter(q->base.device);
    if (error == CUDA_SUCCESS) {
        error = mark_from(q, ticket, &event);
        if (error == CUDA_SUCCESS)
            error = q->base.device->cu.EventSynchronize(event);
        cuda_leave(q->base.device);
    }
    if (error != CUDA_SUCCESS)
        cuda_note_error(q, error);
    while (q->base.retired < ticket && q->mark_count) {
        q->base.retired = mark_at(q, 0)->ticket;
        q->first_mark++;
        q->mark_count--;
    }
}

static void submit(collet_queue *q)
{
    if (cuda_enter(q->base.device) != CUDA_SUCCESS)
        return;
    pthread_mutex_lock(&q->base.lock);
    if (q->base.retired < q->base.submitted) { /* with a mark, the wait does not wait for later commands */
        CUresult error = cuda_mark_now(q);
        if (error != CUDA_SUCCESS)
            cuda_note_error(q, error);
    }
    pthread_mutex_unlock(&q->base.lock);
    cuda_leave(q->base.device);
}

static void block(collet_queue *q, uint64_t ticket)
{
    CUevent event = NULL;
    CUresult error = cuda_enter(q->base.device);
    if (error == CUDA_SUCCESS) {
        pthread_mutex_lock(&q->base.lock);
        if (q->base.retired < ticket)
            error = mark_from(q, ticket, &event);
        pthread_mutex_unlock(&q->base.lock);
        if (event)
            error = q->base.device->cu.EventSynchronize(event);
        cuda_leave(q->base.device);
    }
    if (error == CUDA_SUCCESS)
        return;
    pthread_mutex_lock(&q->base.lock);
    cuda_note_error(q, error);
    pthread_mutex_unlock(&q->base.lock);
}

/* While launches are held back no mark is recorded: it would submit them. */
static void mark(collet_queue *q)
{
    if (cuda_batch_is_on(q) || cuda_enter(q->base.device) != CUDA_SUCCESS)
        return;
    CUresult error = q->base.retired < q->base.submitted ? cuda_mark_now(q) : CUDA_SUCCESS;
    if (error != CUDA_SUCCESS)
        cuda_note_error(q, error);
    cuda_leave(q->base.device);
}

static collet_status order(collet_queue *q, collet_queue *other, uint64_t ticket, collet_error *err)
{
    collet_device *d = q->base.device, *theirs = other->base.device;
    CUresult error = cuda_enter(theirs);
    if (error != CUDA_SUCCESS)
        return cuda_fail(theirs, error, "waiting for a queue", err);
    submit(q); /* what is held was enqueued before the wait */
    pthread_mutex_lock(&other->base.lock);
    retire(other);
    if (other->base.retired < ticket) {
        CUevent event;
        error = mark_from(other, ticket, &event);
        if (error == CUDA_SUCCESS)
            error = cuda_enter(d);
        if (error == CUDA_SUCCESS) {
            error = d->cu.StreamWaitEvent(q->handle, event, 0);
            cuda_leave(d);
        }
    }
    pthread_mutex_unlock(&other->base.lock);
    cuda_leave(theirs);
    return error == CUDA_SUCCESS ? COLLET_OK : cuda_fail(d, error, "waiting for a queue", err);
}

/* ---- Queues ---------------------------------------------------------------------------------- */

static collet_status queue_open(collet_queue *q, collet_error *err)
{
    collet_device *d = q->base.device;
    CUresult error = cuda_enter(d);
    if (error == CUDA_SUCCESS) {
        error = d->cu.StreamCreate(&q->handle, CU_STREAM_NON_BLOCKING);
        for (uint32_t i = 0; i < CUDA_MARKS && error == CUDA_SUCCESS; i++)
            error = d->cu.EventCreate(&q->marks[i].event, CU_EVENT_DISABLE_TIMING);
        cuda_leave(d);
    }
    return error == CUDA_SUCCESS ? COLLET_OK : cuda_fail(d, error, "a queue", err);
}

static void release_libraries(collet_queue *q)
{
    if (q->blas)
        q->base.device->blas.Destroy(q->blas);
    if (q->solver)
        q->base.device->solver.Destroy(q->solver);
    q->blas = NULL;
    q->solver = NULL;
}

static void queue_close(collet_queue *q)
{
    collet_device *d = q->base.device;
    if (cuda_enter(d) != CUDA_SUCCESS)
        return;
    release_libraries(q);
    cuda_batch_free(q);
    for (uint32_t i = 0; i < CUDA_MARKS; i++)
        if (q->marks[i].event)
            d->cu.EventDestroy(q->marks[i].event);
    if (q->handle)
        d->cu.StreamDestroy(q->handle);
    cuda_leave(d);
}

static void trim(collet_queue *q)
{
    drain(q);
    if ((!q->blas && !q->solver && !q->batch) || cuda_enter(q->base.device) != CUDA_SUCCESS)
        return;
    release_libraries(q);
    cuda_batch_forget(q);
    cuda_leave(q->base.device);
}

const jit_queue_slots cuda_queues = {
    .open = queue_open,
    .close = queue_close,
    .order = order,
    .submit = submit,
    .block = block,
    .mark = mark,
    .retire = retire,
    .reach = reach,
    .drain = drain,
    .trim = trim,
};

static CUresult record(collet_queue *q, CUevent *event)
{
    const cuda_driver *cu = &q->base.device->cu;
    CUresult error = cu->EventCreate(event, CU_EVENT_DEFAULT);
    if (error != CUDA_SUCCESS)
        return error;
    pthread_mutex_lock(&q->base.lock);
    error = cuda_submit(q);
    if (error == CUDA_SUCCESS)
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

/* ---- Batches --------------------------------------------------------------------------------- */

static void batch_begin(collet_device *d, collet_queue *q, const void *key)
{
    if (!d->cu.has_graphs || d->wait_each || cuda_enter(d) != CUDA_SUCCESS)
        return;
    pthread_mutex_lock(&q->base.lock);
    (void)cuda_submit(q);
    (void)cuda_batch_begin(q, key); /* without memory there is no batch */
    pthread_mutex_unlock(&q->base.lock);
    cuda_leave(d);
}

static void batch_end(collet_device *d, collet_queue *q)
{
    (void)d;
    submit(q);
    pthread_mutex_lock(&q->base.lock);
    cuda_batch_end(q);
    pthread_mutex_unlock(&q->base.lock);
}

const collet_batch_extension cuda_batches = {sizeof cuda_batches, 0, batch_begin, batch_end};
