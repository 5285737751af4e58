/* SPDX-License-Identifier: Apache-2.0 */
/* The backend's objects as objects of the driver's interface: collet.native/1.
 * Tests: tests/cuda/test_cuda_device.c */
#include "backend.h"

#define DLPACK_CUDA 2

static collet_status native_device(collet_device *d, collet_native_device *native,
                                   collet_error *err)
{
    (void)err;
    native->dlpack_type = DLPACK_CUDA;
    native->dlpack_id = d->id;
    native->api = "cuda";
    native->context = d->context;
    native->device = (void *)(intptr_t)d->id;
    return COLLET_OK;
}

static collet_status native_queue(collet_device *d, collet_queue *q, void **handle,
                                  collet_error *err)
{
    (void)d;
    (void)err;
    *handle = q->handle;
    return COLLET_OK;
}

/* The program's commands get a ticket, because a mark is recorded for the last ticket. */
static collet_status native_queue_used(collet_device *d, collet_queue *q, collet_error *err)
{
    CUresult error = cuda_enter(d);
    if (error == CUDA_SUCCESS) {
        pthread_mutex_lock(&q->base.lock);
        cuda_commit(q, "commands of the program");
        error = cuda_mark_now(q);
        pthread_mutex_unlock(&q->base.lock);
        cuda_leave(d);
    }
    return error == CUDA_SUCCESS ? COLLET_OK : cuda_fail(d, error, "commands of the program", err);
}

static collet_status native_buffer(collet_device *d, collet_buffer *b, void **handle,
                                   collet_error *err)
{
    (void)d;
    (void)err;
    *handle = b->memory;
    return COLLET_OK;
}

static collet_status native_import(collet_device *d, collet_buffer **buffer, void *handle,
                                   uint64_t offset, uint64_t bytes, uint32_t element,
                                   collet_error *err)
{
    CUdeviceptr address = (CUdeviceptr)(uintptr_t)handle + offset;
    if (!cuda_memory_type(d, address))
        return d->base.host->fail(err, COLLET_INVALID, "%p is not an address in memory of CUDA",
                                  (void *)(uintptr_t)address);
    if (address % element)
        return d->base.host->fail(err, COLLET_INVALID,
                                  "the address %p is not a multiple of the %u bytes of an element",
                                  (void *)(uintptr_t)address, element);
    return jit_pool_import(d, (void *)(uintptr_t)address, bytes, buffer, err);
}

const collet_native_extension cuda_native = {
    sizeof cuda_native, 0, native_device, native_queue, native_queue_used, native_buffer,
    native_import};
