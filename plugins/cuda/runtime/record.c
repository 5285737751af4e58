/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collet.record/1: what rows enqueue is captured by the driver and becomes a graph. New buffers are
 * captured again, and the executable graph is updated, which the driver does without building it
 * anew as long as the commands are of the same kinds.
 */
#include <stdlib.h>

#include "backend.h"

struct collet_recording {
    CUgraphExec executable; /* NULL: none yet */
    collet_queue *queue;    /* whose libraries' handles it uses */
    uint64_t freed;         /* base.freed of the device: nothing that it uses was freed since */
};

static collet_status begin(collet_device *d, collet_queue *q, collet_error *err)
{
    collet_status status = jit_check(d, err);
    if (status == COLLET_OK && (d->wait_each || !d->cu.has_graphs))
        status = d->base.host->fail(err, COLLET_REFUSED,
                                    d->wait_each ? "cuda.sync is on, which waits for each launch"
                                                 : "the driver is older than CUDA 12");
    CUresult error = status == COLLET_OK ? cuda_enter(d) : CUDA_SUCCESS;
    if (status != COLLET_OK || error != CUDA_SUCCESS)
        return status != COLLET_OK ? status : cuda_fail(d, error, "recording", err);
    pthread_mutex_lock(&q->base.lock);
    /* So that waits need not touch the stream while it captures. */
    if (q->base.retired < q->base.submitted)
        error = cuda_mark_now(q);
    if (error == CUDA_SUCCESS)
        error = d->cu.StreamBeginCapture(q->handle, CU_STREAM_CAPTURE_MODE_RELAXED);
    q->recording = error == CUDA_SUCCESS;
    q->freed = atomic_load(&d->base.freed);
    pthread_mutex_unlock(&q->base.lock);
    cuda_leave(d);
    return error == CUDA_SUCCESS ? COLLET_OK : cuda_fail(d, error, "recording", err);
}

/* In the device's context. Its replays may be at work. */
static void destroy(collet_device *d, collet_recording *r)
{
    if (!r->executable)
        return;
    pthread_mutex_lock(&r->queue->base.lock);
    cuda_queues.drain(r->queue);
    pthread_mutex_unlock(&r->queue->base.lock);
    d->cu.GraphExecDestroy(r->executable);
    r->executable = NULL;
}

static void release(collet_device *d, collet_recording *r)
{
    if (r && cuda_enter(d) == CUDA_SUCCESS) {
        destroy(d, r);
        cuda_leave(d);
    }
    free(r);
}

static CUresult make_executable(collet_device *d, collet_queue *q, collet_recording *r,
                                CUgraph graph)
{
    CUgraphExecUpdateResultInfo info = {0};
    /* What the executable refers to must exist to be compared with the new graph. */
    if (r->executable && (r->freed != q->freed ||
                          d->cu.GraphExecUpdate(r->executable, graph, &info) != CUDA_SUCCESS))
        destroy(d, r);
    r->queue = q;
    r->freed = q->freed;
    return r->executable ? CUDA_SUCCESS : d->cu.GraphInstantiate(&r->executable, graph, 0);
}

/* In the device's context: the queue no longer records. */
static CUresult end_capture(collet_device *d, collet_queue *q, CUgraph *graph)
{
    *graph = NULL;
    pthread_mutex_lock(&q->base.lock);
    CUresult error = d->cu.StreamEndCapture(q->handle, graph);
    q->recording = 0;
    pthread_mutex_unlock(&q->base.lock);
    return error;
}

static collet_status take(collet_device *d, collet_queue *q, collet_recording **recording,
                          CUgraph graph, collet_error *err)
{
    collet_recording *r = *recording ? *recording : calloc(1, sizeof *r);
    if (!r)
        return d->base.host->fail(err, COLLET_REFUSED, "out of memory for a recording");
    *recording = r;
    if (q->freed != atomic_load(&d->base.freed))
        return d->base.host->fail(err, COLLET_REFUSED,
                                  "what the recorded commands use was freed meanwhile");
    CUresult error = make_executable(d, q, r, graph);
    return error == CUDA_SUCCESS ? COLLET_OK : cuda_fail(d, error, "a graph", err);
}

static collet_status end(collet_device *d, collet_queue *q, collet_recording **recording,
                         collet_error *err)
{
    CUgraph graph;
    CUresult error = cuda_enter(d);
    if (error != CUDA_SUCCESS)
        return cuda_fail(d, error, "recording", err);
    error = end_capture(d, q, &graph);
    collet_status status = COLLET_OK;
    if (error != CUDA_SUCCESS)
        status = cuda_fail(d, error, "recording", err);
    else if (recording)
        status = take(d, q, recording, graph, err);
    if (graph)
        d->cu.GraphDestroy(graph);
    if (status != COLLET_OK && recording) {
        release(d, *recording);
        *recording = NULL;
    }
    cuda_leave(d);
    return status;
}

static collet_status replay(collet_device *d, collet_queue *q, collet_recording *r,
                            collet_error *err)
{
    collet_status status = jit_check(d, err);
    if (status != COLLET_OK)
        return status;
    if (r->queue != q || r->freed != atomic_load(&d->base.freed))
        return d->base.host->fail(err, COLLET_REFUSED, "what the recording uses was freed");
    CUresult error = cuda_enter(d);
    if (error != CUDA_SUCCESS)
        return cuda_fail(d, error, "a recording", err);
    pthread_mutex_lock(&q->base.lock);
    error = d->cu.GraphLaunch(r->executable, q->handle);
    if (error == CUDA_SUCCESS)
        (void)cuda_commit(q, "a recording");
    pthread_mutex_unlock(&q->base.lock);
    cuda_leave(d);
    return error == CUDA_SUCCESS ? COLLET_OK : cuda_not_enqueued(d, error, "a recording", err);
}

const collet_record_extension cuda_record = {sizeof cuda_record, 0, begin, end, replay, release};
