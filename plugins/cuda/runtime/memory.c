/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/cuda/test_cuda_device.c, tests/cuda/test_cuda_staging.c */
#include "backend.h"

#include <stdlib.h>
#include <string.h>
#include "shared/jit/runtime/launch.h"

/* Writes of up to this size from page-locked memory are first copied to pageable memory. The driver may read
 * page-locked memory after its call has returned, but reads pageable memory before it returns. */
#define STAGED_MAX ((uint64_t)64 << 10)

/* ---- The pool's memory ----------------------------------------------------------------------- */

static void *take(collet_device *d, uint64_t bytes)
{
    CUdeviceptr address = 0;
    CUresult error = CUDA_IN_CONTEXT(d, d->cu.MemAlloc(&address, bytes));
    if (error == CUDA_SUCCESS)
        return (void *)(uintptr_t)address;
    cuda_fail(d, error, "memory", NULL);
    return NULL;
}

static void give(collet_device *d, void *memory)
{
    (void)CUDA_IN_CONTEXT(d, d->cu.MemFree((CUdeviceptr)(uintptr_t)memory));
}

static collet_status host_alloc(collet_device *d, uint64_t bytes, void **address, collet_error *err)
{
    CUresult error =
        CUDA_IN_CONTEXT(d, d->cu.MemHostAlloc(address, bytes, CU_MEMHOSTALLOC_PORTABLE));
    return error == CUDA_SUCCESS ? COLLET_OK : cuda_fail(d, error, "page-locked memory", err);
}

static void host_free(collet_device *d, void *address)
{
    if (!address || cuda_enter(d) != CUDA_SUCCESS)
        return;
    d->cu.MemFreeHost(address);
    cuda_leave(d);
}

static collet_status pinned_alloc(collet_device *d, void **address, void **handle, uint64_t bytes,
                                  collet_error *err)
{
    *handle = NULL;
    return host_alloc(d, bytes, address, err);
}

static void pinned_free(collet_device *d, void *address, void *handle)
{
    (void)handle;
    host_free(d, address);
}

const collet_pinned_extension cuda_pinned = {sizeof cuda_pinned, 0, pinned_alloc, pinned_free};

static uint64_t available(collet_device *d)
{
    size_t bytes = 0, total = 0;
    CUresult error = CUDA_IN_CONTEXT(d, d->cu.MemGetInfo(&bytes, &total));
    return error == CUDA_SUCCESS ? bytes : 0;
}

/* ---- Commands on buffers --------------------------------------------------------------------- */

/* Enters the device's context and locks the queue; end_command undoes both. */
static collet_status begin_command(collet_device *d, collet_queue *q, collet_error *err)
{
    collet_status status = jit_check(d, err);
    if (status != COLLET_OK)
        return status;
    CUresult error = cuda_enter(d);
    if (error != CUDA_SUCCESS)
        return cuda_fail(d, error, "the device's context", err);
    pthread_mutex_lock(&q->base.lock);
    (void)cuda_submit(q); /* an error is stored for the next wait */
    return COLLET_OK;
}

/* Any driver call may return the error of an earlier command. If the error means that the device
 * was lost, it is stored for the next wait. `marks`: records a mark, so that a wait for this
 * command does not wait for later commands. */
static collet_status end_command(collet_device *d, collet_queue *q, CUresult error,
                                 const char *what, int marks, collet_error *err)
{
    collet_status status = COLLET_OK;
    if (error == CUDA_SUCCESS)
        cuda_commit(q, what);
    if (error == CUDA_SUCCESS && marks)
        error = cuda_mark_now(q);
    if (error != CUDA_SUCCESS)
        status = cuda_fail(d, error, what, err);
    if (status == COLLET_DEVICE_LOST)
        cuda_note_error(q, error);
    pthread_mutex_unlock(&q->base.lock);
    cuda_leave(d);
    return status;
}

/* Calls cuPointerGetAttributes for a single attribute, because cuPointerGetAttribute fails for memory that CUDA
 * does not know, and compute-sanitizer would report this failure. */
unsigned cuda_memory_type(collet_device *d, CUdeviceptr address)
{
    unsigned type = 0;
    void *value = &type;
    CUpointer_attribute what = CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
    CUresult error = CUDA_IN_CONTEXT(d, d->cu.PointerGetAttributes(1, &what, &value, address));
    return error == CUDA_SUCCESS ? type : 0;
}

static int is_pinned(collet_device *d, const void *address)
{
    return cuda_memory_type(d, (CUdeviceptr)(uintptr_t)address) == CU_MEMORYTYPE_HOST;
}

static int pinned_take(collet_queue *q, uint64_t bytes, jit_piece *piece)
{
    collet_error why = {COLLET_OK, ""};
    if (host_alloc(q->base.device, bytes, &piece->address, &why) == COLLET_OK)
        return 1;
    piece->address = NULL;
    return 0;
}

static void pinned_give(collet_queue *q, jit_piece *piece)
{
    host_free(q->base.device, piece->address);
}

static CUresult write_locked(collet_device *d, collet_queue *q, CUdeviceptr at, const void *source,
                             uint64_t bytes)
{
    void *copy = bytes <= STAGED_MAX ? malloc(bytes) : NULL;
    if (copy)
        memcpy(copy, source, bytes);
    CUresult error = d->cu.MemcpyHtoDAsync(at, copy ? copy : source, bytes, q->handle);
    if (error == CUDA_SUCCESS && !copy)
        error = d->cu.StreamSynchronize(q->handle);
    free(copy);
    return error;
}

static collet_status write_buffer(collet_device *d, collet_queue *q, collet_buffer *b,
                                  uint64_t offset, const void *source, uint64_t bytes, int in_piece,
                                  collet_error *err)
{
    int locked = !in_piece && is_pinned(d, source);
    collet_status status = begin_command(d, q, err);
    if (status != COLLET_OK)
        return status;
    CUdeviceptr at = cuda_address(b) + offset;
    CUresult error = locked ? write_locked(d, q, at, source, bytes)
                            : d->cu.MemcpyHtoDAsync(at, source, bytes, q->handle);
    return end_command(d, q, error, "write", in_piece, err);
}

static collet_status read_buffer(collet_device *d, collet_queue *q, collet_buffer *b,
                                 uint64_t offset, void *target, uint64_t bytes, int in_piece,
                                 collet_error *err)
{
    collet_status status = begin_command(d, q, err);
    if (status != COLLET_OK)
        return status;
    CUresult error = d->cu.MemcpyDtoHAsync(target, cuda_address(b) + offset, bytes, q->handle);
    if (error == CUDA_SUCCESS && !in_piece)
        error = d->cu.StreamSynchronize(q->handle);
    return end_command(d, q, error, "read", in_piece, err);
}

collet_status cuda_clear(collet_device *d, collet_queue *q, collet_buffer *b, uint64_t offset,
                         uint64_t bytes, collet_error *err)
{
    collet_status status = begin_command(d, q, err);
    if (status != COLLET_OK)
        return status;
    CUresult error = d->cu.MemsetD8Async(cuda_address(b) + offset, 0, bytes, q->handle);
    return end_command(d, q, error, "clear", 0, err);
}

/* There is no slot `disown`, because the backend does not own imported memory. */
const jit_memory_slots cuda_memory = {
    .take = take,
    .give = give,
    .available = available,
    .write = write_buffer,
    .read = read_buffer,
    .pinned = is_pinned,
    .pinned_take = pinned_take,
    .pinned_give = pinned_give,
};
