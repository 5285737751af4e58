/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/cuda/test_cuda_blas.c, tests/cuda/test_cuda_fft.c */
#include "library_call.h"

#include "backend.h"

/* Reports the device's own error if it has one. */
static collet_status broken(const cuda_library_use *use, int code)
{
    collet_device *d = use->device;
    CUresult error = d->cu.StreamQuery(use->queue->handle);
    if (error != CUDA_SUCCESS && error != CUDA_ERROR_NOT_READY)
        return jit_after_first(cuda_fail(d, error, use->label, use->err));
    return d->base.host->fail(use->err, COLLET_FAILED, "%s: status %d", use->label, code);
}

collet_status cuda_library_call(const cuda_library_use *use, int (*calls)(void *context, int *code),
                                void *context)
{
    collet_device *d = use->device;
    collet_queue *q = use->queue;
    int code = 0;
    collet_status status = jit_check(d, use->err);
    if (status != COLLET_OK)
        return status;
    CUresult error = cuda_enter(d);
    if (error != CUDA_SUCCESS)
        return cuda_fail(d, error, use->label, use->err);
    pthread_mutex_lock(&q->base.lock);
    (void)cuda_submit(q); /* an error is stored for the next wait */
    int outcome = calls(context, &code);
    if (outcome == CUDA_LIBRARY_DONE) {
        cuda_commit(q, use->label);
        if (d->wait_each)
            cuda_queues.drain(q);
    } else if (outcome == CUDA_LIBRARY_NO) {
        status = d->base.host->fail(use->err, COLLET_REFUSED, "%s: status %d", use->label, code);
    } else {
        status = broken(use, code);
    }
    pthread_mutex_unlock(&q->base.lock);
    cuda_leave(d);
    return status;
}
