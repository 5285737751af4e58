/* SPDX-License-Identifier: Apache-2.0 */
/* The backend's objects as OpenCL objects: collet.native/1.
 * Tests: tests/opencl/test_opencl_native.c, conformance/verbs/extensions.c,
 * tests/opencl/test_opencl_device_copies.c */
#include "opencl.h"

#define DLPACK_OPENCL 4

static collet_status native_device(collet_device *d, collet_native_device *native,
                                   collet_error *err)
{
    (void)err;
    native->dlpack_type = DLPACK_OPENCL;
    native->dlpack_id = (int32_t)d->base.index;
    native->api = "opencl";
    native->context = d->context;
    native->device = d->id;
    return COLLET_OK;
}

/* Enables profiling before the program gets the handle: a later request for timestamps would replace the handle. */
static collet_status native_queue(collet_device *d, collet_queue *q, void **handle,
                                  collet_error *err)
{
    pthread_mutex_lock(&q->base.lock);
    cl_int error = opencl_profile(q);
    *handle = q->handle;
    pthread_mutex_unlock(&q->base.lock);
    return error == CL_SUCCESS
               ? COLLET_OK
               : jit_after_first(opencl_fail(d, error, "a queue with profiling", err));
}

/* The queue is in order: a marker completes after the commands before it. */
static collet_status native_queue_used(collet_device *d, collet_queue *q, collet_error *err)
{
    opencl_command *c = opencl_start(q, "commands of the program");
    cl_int error = d->cl.EnqueueMarkerWithWaitList(q->handle, 0, NULL, &c->event);
    return opencl_finish(q, error, NULL, err);
}

static collet_status native_buffer(collet_device *d, collet_buffer *b, void **handle,
                                   collet_error *err)
{
    (void)d;
    (void)err;
    *handle = b->memory;
    return COLLET_OK;
}

/* Checks that `memory` belongs to the device's context and is large enough. */
static collet_status check(collet_device *d, cl_mem memory, uint64_t offset, uint64_t bytes,
                           collet_error *err)
{
    size_t size = 0;
    cl_context context = NULL;
    cl_int error = d->cl.GetMemObjectInfo(memory, CL_MEM_SIZE, sizeof size, &size, NULL);
    if (error == CL_SUCCESS)
        error = d->cl.GetMemObjectInfo(memory, CL_MEM_CONTEXT, sizeof context, &context, NULL);
    if (error != CL_SUCCESS || context != d->context)
        return d->base.host->fail(err, COLLET_INVALID,
                                  "%p is not a buffer of the device's OpenCL context",
                                  (void *)memory);
    if (offset > size || bytes > size - offset)
        return d->base.host->fail(
            err, COLLET_INVALID, "the buffer has %llu bytes; %llu from byte %llu were given",
            (unsigned long long)size, (unsigned long long)bytes, (unsigned long long)offset);
    return COLLET_OK;
}

static cl_mem part(collet_device *d, cl_mem memory, uint64_t offset, uint64_t bytes, cl_int *error)
{
    const size_t region[] = {offset, bytes}; /* cl_buffer_region */
    if (offset)
        return d->cl.CreateSubBuffer(memory, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION,
                                     region, error);
    *error = d->cl.RetainMemObject(memory);
    return memory;
}

static collet_status native_import(collet_device *d, collet_buffer **buffer, void *handle,
                                   uint64_t offset, uint64_t bytes, uint32_t element,
                                   collet_error *err)
{
    cl_int error = CL_SUCCESS;
    (void)element;
    collet_status status = check(d, handle, offset, bytes, err);
    if (status != COLLET_OK)
        return status;
    cl_mem memory = part(d, handle, offset, bytes, &error);
    if (error == CL_MISALIGNED_SUB_BUFFER_OFFSET)
        return d->base.host->fail(err, COLLET_INVALID,
                                  "an OpenCL buffer cannot be used from byte %llu on: the device's "
                                  "CL_DEVICE_MEM_BASE_ADDR_ALIGN does not divide that",
                                  (unsigned long long)offset);
    if (error != CL_SUCCESS)
        return opencl_fail(d, error, "the buffer handed in", err);
    status = jit_pool_import(d, memory, bytes, buffer, err);
    if (status != COLLET_OK)
        d->cl.ReleaseMemObject(memory);
    return status;
}

const collet_native_extension opencl_native = {
    sizeof opencl_native, 0, native_device, native_queue, native_queue_used, native_buffer,
    native_import};

/* Copies between devices. Each device has its own context, so that a lost device does not affect others. If both
 * share the host's memory, the source is mapped (this copies nothing), and the other device reads the mapping. User
 * events order commands across contexts. If devices do not share the host's memory, a mapping would be a copy
 * through the host; libcore can make this copy itself. */

static int reaches(collet_device *d, collet_device *from)
{
    return d != from && d->on_host && from->on_host;
}

static collet_status export_begin(collet_queue *q, uint64_t bytes, jit_export *export,
                                  collet_error *err)
{
    collet_device *d = q->base.device;
    cl_int error = CL_SUCCESS;
    opencl_command *c = opencl_start(q, "exporting to another device");
    export->address =
        d->cl.EnqueueMapBuffer(q->handle, export->buffer->memory, CL_FALSE, CL_MAP_READ,
                               export->offset, bytes, 0, NULL, &c->event, &error);
    return opencl_finish(q, error, &export->ticket, err);
}

static collet_status export_read(collet_queue *q, collet_buffer *target, uint64_t offset,
                                 collet_device *from, const jit_export *export, uint64_t bytes,
                                 uint64_t *ticket, collet_error *err)
{
    (void)from;
    collet_device *d = q->base.device;
    opencl_command *c = opencl_start(q, "copy from another device");
    cl_int error = d->cl.EnqueueWriteBuffer(q->handle, target->memory, CL_FALSE, offset, bytes,
                                            export->address, 0, NULL, &c->event);
    return opencl_finish(q, error, ticket, err);
}

static void export_end(collet_queue *q, const jit_export *export)
{
    collet_device *d = q->base.device;
    pthread_mutex_lock(&q->base.lock);
    opencl_command *c = opencl_begin(q, "copy to another device");
    if (d->cl.EnqueueUnmapMemObject(q->handle, export->buffer->memory, export->address, 0, NULL,
                                    &c->event) == CL_SUCCESS)
        opencl_commit(q);
    pthread_mutex_unlock(&q->base.lock);
}

const jit_copy_slots opencl_copies = {
    .reaches = reaches,
    .export_begin = export_begin,
    .export_read = export_read,
    .export_end = export_end,
};
