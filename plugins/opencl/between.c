/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies between devices. Each device has its own context, so that a lost device does not affect
 * others. If both share the host's memory, the source is mapped, which copies nothing, and the
 * other device reads the mapping; user events order commands across contexts. Other drivers
 * implement a mapping by copying through the host, as libcore would.
 * Tests: conformance/verbs/extensions.c, tests/opencl/test_opencl_device_copies.c
 */
#include "opencl.h"

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
