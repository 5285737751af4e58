/* SPDX-License-Identifier: Apache-2.0 */
#include "opencl.h"

#include <stdlib.h>
#include <string.h>

/* ---- The pool's memory ----------------------------------------------------------------------- */

void *jit_memory_take(collet_device *d, uint64_t bytes)
{
    cl_int error = CL_SUCCESS;
    cl_mem memory = d->cl.CreateBuffer(d->context, CL_MEM_READ_WRITE, bytes, NULL, &error);
    return error == CL_SUCCESS ? (void *)memory : NULL;
}

void jit_memory_give(collet_device *d, void *memory)
{
    d->cl.ReleaseMemObject(memory);
}

/* The import retained it. */
void jit_memory_disown(collet_device *d, void *memory)
{
    d->cl.ReleaseMemObject(memory);
}

/* ---- Commands on buffers --------------------------------------------------------------------- */

int jit_pinned(collet_device *d, const void *address)
{
    (void)d;
    (void)address;
    return 0;
}

/* A buffer that the driver allocates in page-locked memory, mapped for its lifetime. */
int jit_pinned_take(collet_queue *q, uint64_t bytes, jit_piece *piece)
{
    const opencl_driver *cl = &q->base.device->cl;
    cl_int error = CL_SUCCESS;
    cl_mem memory = cl->CreateBuffer(
        q->base.device->context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes, NULL, &error);
    if (error != CL_SUCCESS)
        return 0;
    pthread_mutex_lock(&q->base.lock);
    void *address = cl->EnqueueMapBuffer(q->handle, memory, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
                                         bytes, 0, NULL, NULL, &error);
    pthread_mutex_unlock(&q->base.lock);
    if (error != CL_SUCCESS) {
        cl->ReleaseMemObject(memory);
        return 0;
    }
    *piece = (jit_piece){address, memory, 0};
    return 1;
}

void jit_pinned_give(collet_queue *q, jit_piece *piece)
{
    const opencl_driver *cl = &q->base.device->cl;
    pthread_mutex_lock(&q->base.lock);
    cl->EnqueueUnmapMemObject(q->handle, piece->handle, piece->address, 0, NULL, NULL);
    cl->Finish(q->handle);
    pthread_mutex_unlock(&q->base.lock);
    cl->ReleaseMemObject(piece->handle);
}

collet_status jit_write(collet_device *d, collet_queue *q, collet_buffer *b, uint64_t offset,
                        const void *source, uint64_t bytes, int pinned, collet_error *err)
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

collet_status jit_read(collet_device *d, collet_queue *q, collet_buffer *b, uint64_t offset,
                       void *target, uint64_t bytes, int pinned, collet_error *err)
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
    jit_queue_retire(q);
    pthread_mutex_unlock(&q->base.lock);
    return status;
}
