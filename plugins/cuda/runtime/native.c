/* SPDX-License-Identifier: Apache-2.0 */
/* The backend's objects as objects of the driver's interface: collet.native/1.
 * Tests: tests/cuda/test_cuda_device.c, tests/cuda/test_cuda_device_copies.c */
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
    cuda_queues.submit(q);
    *handle = q->handle;
    return COLLET_OK;
}

/* The program's commands get a ticket, because a mark is recorded for the last ticket. */
static collet_status native_queue_used(collet_device *d, collet_queue *q, collet_error *err)
{
    CUresult error = cuda_enter(d);
    if (error == CUDA_SUCCESS) {
        pthread_mutex_lock(&q->base.lock);
        (void)cuda_submit(q); /* an error is stored for the next wait */
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

/* A peer copy requires that the target's GPU can access the memory of the source's GPU. Between
 * other GPUs libcore copies through host memory. */

static int enable(collet_device *d, collet_device *from)
{
    int can = 0;
    if (d->cu.DeviceCanAccessPeer(&can, d->id, from->id) != CUDA_SUCCESS || !can ||
        cuda_enter(d) != CUDA_SUCCESS)
        return 0;
    CUresult error = d->cu.CtxEnablePeerAccess(from->context, 0);
    cuda_leave(d);
    return error == CUDA_SUCCESS || error == CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
}

static int reaches(collet_device *d, collet_device *from)
{
    if (d == from || from->id < 0 || from->id >= CUDA_PEERS)
        return 0;
    pthread_mutex_lock(&d->base.lock);
    cuda_peer *peer = &d->peers[from->id];
    if (peer->context != from->context)
        *peer = (cuda_peer){from->context, enable(d, from)};
    int can = peer->reaches;
    pthread_mutex_unlock(&d->base.lock);
    return can;
}

/* Returns a new ticket, which follows all commands enqueued so far; 0 if the context cannot be entered. Held launches are
 * submitted first, because their tickets are the last of the queue. */
static uint64_t ticket_of(collet_queue *q, const char *label)
{
    if (cuda_enter(q->base.device) != CUDA_SUCCESS)
        return 0;
    pthread_mutex_lock(&q->base.lock);
    (void)cuda_submit(q); /* an error is stored for the next wait */
    uint64_t ticket = cuda_commit(q, label);
    pthread_mutex_unlock(&q->base.lock);
    cuda_leave(q->base.device);
    return ticket;
}

static collet_status export_begin(collet_queue *q, uint64_t bytes, jit_export *export,
                                  collet_error *err)
{
    (void)bytes;
    /* Waits for other queues have no ticket, so a new ticket is made that follows them. */
    export->ticket = ticket_of(q, "exporting to another device");
    if (!export->ticket)
        return jit_host(q->base.device)
            ->fail(err, COLLET_REFUSED, "the device's context cannot be entered");
    export->address = (void *)(uintptr_t)(cuda_address(export->buffer) + export->offset);
    return COLLET_OK;
}

static collet_status export_read(collet_queue *q, collet_buffer *target, uint64_t offset,
                                 collet_device *from, const jit_export *export, uint64_t bytes,
                                 uint64_t *ticket, collet_error *err)
{
    collet_device *d = q->base.device;
    CUresult error = cuda_enter(d);
    if (error != CUDA_SUCCESS)
        return cuda_fail(d, error, "a copy from another device", err);
    pthread_mutex_lock(&q->base.lock);
    (void)cuda_submit(q);
    error = d->cu.MemcpyPeerAsync(cuda_address(target) + offset, d->context,
                                  (CUdeviceptr)(uintptr_t) export->address, from->context, bytes,
                                  q->handle);
    if (error == CUDA_SUCCESS)
        *ticket = cuda_commit(q, "copy from another device");
    pthread_mutex_unlock(&q->base.lock);
    cuda_leave(d);
    return error == CUDA_SUCCESS ? COLLET_OK
                                 : cuda_fail(d, error, "a copy from another device", err);
}

static void export_end(collet_queue *q, const jit_export *export)
{
    (void)export;
    (void)ticket_of(q, "copy to another device");
}

const jit_copy_slots cuda_copies = {
    .reaches = reaches,
    .export_begin = export_begin,
    .export_read = export_read,
    .export_end = export_end,
};
