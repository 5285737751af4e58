/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/cuda/test_cuda_launch.c */
#include "backend.h"

#define GROUPS_MAX 0x7fffffffu

/* The caller holds the queue's lock and is in the device's context. */
static CUresult launch(collet_device *d, collet_queue *q, const jit_kernel *kernel,
                       const jit_launch *l, uint64_t groups)
{
    CUdeviceptr addresses[JIT_ARGUMENTS];
    void *arguments[JIT_ARGUMENTS];
    if (cuda_batch_add(q, kernel->handle, l, groups))
        return CUDA_SUCCESS;
    CUresult error = cuda_submit(q);
    if (error != CUDA_SUCCESS ||
        cuda_batch_add(q, kernel->handle, l, groups)) /* now it is not full */
        return error;
    for (uint32_t i = 0; i < l->count; i++) {
        const jit_argument *a = &l->arguments[i];
        addresses[i] = cuda_address(a->buffer);
        arguments[i] = !a->size   ? (void *)&addresses[i]
                       : a->block ? (void *)(uintptr_t)a->block
                                  : (void *)(uintptr_t)a->value;
    }
    return d->cu.LaunchKernel(kernel->handle, (unsigned)groups, 1, 1, d->base.traits.group, 1, 1, 0,
                              q->handle, arguments, NULL);
}

/* Like cuda_fail, after a launch that the driver rejected: unless the device is lost the launch has
 * not run, and the status is REFUSED. */
static collet_status not_enqueued(collet_device *d, CUresult error, const char *label,
                                  collet_error *err)
{
    collet_status status = cuda_fail(d, error, label, err);
    if (status != COLLET_FAILED)
        return status;
    if (err)
        err->status = COLLET_REFUSED;
    return COLLET_REFUSED;
}

/* Returns the kernel of a launch, built on first use. On COLLET_OK `launches` is read-locked, which
 * keeps the kernel's program alive until the caller unlocks it. */
static collet_status kernel_get(collet_device *d, const jit_launch *l, const jit_kernel **kernel,
                                collet_error *err)
{
    for (;;) {
        jit_kernel made;
        collet_status status = COLLET_OK;
        pthread_rwlock_rdlock(&d->launches);
        *kernel = jit_kernels_at(&d->kernels, l);
        if ((*kernel)->handle)
            return COLLET_OK;
        pthread_rwlock_unlock(&d->launches);
        pthread_mutex_lock(&d->base.programs.lock);
        /* Another thread may have built it meanwhile. */
        if (!jit_kernels_at(&d->kernels, l)->handle) {
            if (jit_kernels_full(&d->kernels))
                jit_programs_forget(d);
            status = jit_kernel_make(d, l, &made, err);
            if (status == COLLET_OK) {
                pthread_rwlock_wrlock(&d->launches);
                jit_kernels_add(&d->kernels, l, &made);
                pthread_rwlock_unlock(&d->launches);
            }
        }
        pthread_mutex_unlock(&d->base.programs.lock);
        if (status != COLLET_OK)
            return status;
    }
}

static collet_status enqueue(collet_device *d, collet_queue *q, const jit_kernel *kernel,
                             const jit_launch *l, uint64_t groups, collet_error *err)
{
    CUresult error = cuda_enter(d);
    if (error != CUDA_SUCCESS)
        return cuda_fail(d, error, kernel->label, err);
    pthread_mutex_lock(&q->base.lock);
    error = launch(d, q, kernel, l, groups);
    collet_status status = COLLET_OK;
    if (error == CUDA_SUCCESS)
        cuda_commit(q, kernel->label);
    else
        status = not_enqueued(d, error, kernel->label, err);
    if (status == COLLET_OK && d->wait_each)
        cuda_queues.drain(q);
    pthread_mutex_unlock(&q->base.lock);
    cuda_leave(d);
    return status;
}

collet_status cuda_launch(collet_device *d, collet_queue *q, const jit_launch *l, uint64_t groups,
                          collet_error *err)
{
    const jit_kernel *kernel;
    if (groups > GROUPS_MAX)
        return d->base.host->fail(err, COLLET_REFUSED, "%s: too many groups", l->kernel);
    collet_status status = kernel_get(d, l, &kernel, err);
    if (status != COLLET_OK)
        return status;
    status = enqueue(d, q, kernel, l, groups, err);
    pthread_rwlock_unlock(&d->launches);
    return status;
}
