/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/opencl/test_opencl.c */
#include "opencl.h"

#include <stdlib.h>
#include <string.h>

/* ---- The pool's memory ----------------------------------------------------------------------- */

static void *take(collet_device *d, uint64_t bytes)
{
    cl_int error = CL_SUCCESS;
    cl_mem memory = d->cl.CreateBuffer(d->context, CL_MEM_READ_WRITE, bytes, NULL, &error);
    return error == CL_SUCCESS ? (void *)memory : NULL;
}

static void give(collet_device *d, void *memory)
{
    d->cl.ReleaseMemObject(memory);
}

/* ---- Commands on buffers --------------------------------------------------------------------- */

/* Creates a buffer that the driver allocates in page-locked memory, and maps it for its lifetime. */
static void *map_new(collet_device *d, cl_command_queue queue, uint64_t bytes, void **handle,
                     cl_int *error)
{
    cl_mem memory = d->cl.CreateBuffer(d->context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes,
                                       NULL, error);
    if (*error != CL_SUCCESS)
        return NULL;
    void *address = d->cl.EnqueueMapBuffer(queue, memory, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
                                           bytes, 0, NULL, NULL, error);
    if (*error != CL_SUCCESS) {
        d->cl.ReleaseMemObject(memory);
        return NULL;
    }
    *handle = memory;
    return address;
}

static void unmap(collet_device *d, cl_command_queue queue, void *handle, void *address)
{
    d->cl.EnqueueUnmapMemObject(queue, handle, address, 0, NULL, NULL);
    d->cl.Finish(queue);
    d->cl.ReleaseMemObject(handle);
}

static int pinned_take(collet_queue *q, uint64_t bytes, jit_piece *piece)
{
    cl_int error = CL_SUCCESS;
    pthread_mutex_lock(&q->base.lock);
    piece->address = map_new(q->base.device, q->handle, bytes, &piece->handle, &error);
    pthread_mutex_unlock(&q->base.lock);
    piece->ticket = 0;
    return piece->address != NULL;
}

static void pinned_give(collet_queue *q, jit_piece *piece)
{
    pthread_mutex_lock(&q->base.lock);
    unmap(q->base.device, q->handle, piece->handle, piece->address);
    pthread_mutex_unlock(&q->base.lock);
}

/* Creates a queue only for mapping the buffer, because OpenCL requires a queue for that. */
static collet_status pinned_alloc(collet_device *d, void **address, void **handle, uint64_t bytes,
                                  collet_error *err)
{
    cl_int error = CL_SUCCESS;
    cl_command_queue queue = d->cl.CreateCommandQueue(d->context, d->id, 0, &error);
    if (error == CL_SUCCESS) {
        *address = map_new(d, queue, bytes, handle, &error);
        d->cl.ReleaseCommandQueue(queue);
    }
    if (error == CL_INVALID_BUFFER_SIZE)
        error = CL_MEM_OBJECT_ALLOCATION_FAILURE;
    return error == CL_SUCCESS ? COLLET_OK : opencl_fail(d, error, "page-locked memory", err);
}

static void pinned_free(collet_device *d, void *address, void *handle)
{
    cl_int error = CL_SUCCESS;
    cl_command_queue queue = d->cl.CreateCommandQueue(d->context, d->id, 0, &error);
    if (error != CL_SUCCESS) {
        d->cl.ReleaseMemObject(handle);
        return;
    }
    unmap(d, queue, handle, address);
    d->cl.ReleaseCommandQueue(queue);
}

const collet_pinned_extension opencl_pinned = {sizeof opencl_pinned, 0, pinned_alloc, pinned_free};

static collet_status write_buffer(collet_device *d, collet_queue *q, collet_buffer *b,
                                  uint64_t offset, const void *source, uint64_t bytes, int pinned,
                                  collet_error *err)
{
    collet_status status = jit_check(d, err);
    if (status != COLLET_OK)
        return status;
    void *staged = !pinned && bytes <= OPENCL_STAGED ? malloc(bytes) : NULL;
    if (staged)
        memcpy(staged, source, bytes);
    opencl_command *c = opencl_start(q, "write");
    cl_int error =
        d->cl.EnqueueWriteBuffer(q->handle, b->memory, pinned || staged ? CL_FALSE : CL_TRUE,
                                 offset, bytes, staged ? staged : source, 0, NULL, &c->event);
    if (error == CL_SUCCESS)
        c->staged = staged;
    else
        free(staged);
    return opencl_finish(q, error, NULL, err);
}

static collet_status read_buffer(collet_device *d, collet_queue *q, collet_buffer *b,
                                 uint64_t offset, void *target, uint64_t bytes, int pinned,
                                 collet_error *err)
{
    collet_status status = jit_check(d, err);
    if (status != COLLET_OK)
        return status;
    opencl_command *c = opencl_start(q, "read");
    cl_int error = d->cl.EnqueueReadBuffer(q->handle, b->memory, pinned ? CL_FALSE : CL_TRUE,
                                           offset, bytes, target, 0, NULL, &c->event);
    status = opencl_finish(q, error, NULL, err);
    if (pinned)
        return status;
    pthread_mutex_lock(&q->base.lock);
    opencl_queues.retire(q);
    pthread_mutex_unlock(&q->base.lock);
    return status;
}

/* Importing a buffer retains it, so an imported buffer is released like a buffer of the pool. */
const jit_memory_slots opencl_memory = {
    .take = take,
    .give = give,
    .disown = give,
    .write = write_buffer,
    .read = read_buffer,
    .pinned_take = pinned_take,
    .pinned_give = pinned_give,
};
