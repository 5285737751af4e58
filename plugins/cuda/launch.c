/* SPDX-License-Identifier: Apache-2.0 */
#include "backend.h"

#define MOST_GROUPS 0x7fffffffu

const collet_host *device_host(const collet_device *d)
{
    return d->host;
}

const device_traits *device_traits_of(const collet_device *d)
{
    return &d->traits;
}

struct plan_cache *device_tables_of(const collet_device *d)
{
    return d->tables;
}

/* Under the queue's lock, in the device's context. */
static CUresult launch(collet_device *d, collet_queue *q, const cuda_kernel *kernel,
                       const device_launch *l, uint64_t groups)
{
    CUdeviceptr addresses[DEVICE_ARGUMENTS];
    void *arguments[DEVICE_ARGUMENTS];
    for (uint32_t i = 0; i < l->count; i++) {
        const device_argument *a = &l->arguments[i];
        addresses[i] = cuda_address(a->buffer);
        arguments[i] = !a->size   ? (void *)&addresses[i]
                       : a->block ? (void *)(uintptr_t)a->block
                                  : (void *)(uintptr_t)a->value;
    }
    return d->cu.LaunchKernel(kernel->handle, (unsigned)groups, 1, 1, d->traits.group, 1, 1, 0,
                              q->handle, arguments, NULL);
}

/* Whatever the driver says of a launch but that the device is lost: nothing has run. */
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

/* The launch and its ticket. */
static collet_status enqueue(collet_device *d, collet_queue *q, const cuda_kernel *kernel,
                             const device_launch *l, uint64_t groups, uint64_t *ticket,
                             collet_error *err)
{
    CUresult error = cuda_enter(d);
    if (error != CUDA_SUCCESS)
        return cuda_fail(d, error, kernel->label, err);
    pthread_mutex_lock(&q->lock);
    error = launch(d, q, kernel, l, groups);
    collet_status status = COLLET_OK;
    if (error == CUDA_SUCCESS)
        *ticket = cuda_commit(q, kernel->label);
    else
        status = not_enqueued(d, error, kernel->label, err);
    if (status == COLLET_OK && d->wait_each)
        cuda_drain(q);
    pthread_mutex_unlock(&q->lock);
    cuda_leave(d);
    return status;
}

collet_status device_backend_launch(collet_device *d, collet_queue *q, const device_launch *l,
                                    uint64_t groups, collet_error *err)
{
    collet_buffer *buffers[DEVICE_ARGUMENTS];
    const cuda_kernel *kernel;
    uint64_t ticket = 0;
    uint32_t count = 0;
    if (atomic_load(&d->lost))
        return cuda_gone(d, err);
    if (groups > MOST_GROUPS)
        return d->host->fail(err, COLLET_REFUSED, "%s: too many groups", l->kernel);
    for (uint32_t i = 0; i < l->count; i++)
        if (l->arguments[i].buffer)
            buffers[count++] = l->arguments[i].buffer;
    collet_status status = cuda_kernel_get(d, l, &kernel, err);
    if (status != COLLET_OK)
        return status;
    status = device_pool_before(&d->pool, buffers, count, q, err);
    if (status == COLLET_OK)
        status = enqueue(d, q, kernel, l, groups, &ticket, err);
    cuda_kernel_done(d);
    if (status == COLLET_OK)
        device_pool_used(&d->pool, buffers, count, q, ticket);
    return status;
}
