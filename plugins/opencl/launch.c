/* SPDX-License-Identifier: Apache-2.0 */
#include "opencl.h"

#include <stdio.h>

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

static cl_int set_arguments(const opencl_driver *cl, cl_kernel kernel, const device_launch *l)
{
    cl_int error = CL_SUCCESS;
    for (uint32_t i = 0; i < l->count && error == CL_SUCCESS; i++) {
        const device_argument *a = &l->arguments[i];
        cl_mem memory = a->buffer ? a->buffer->memory : NULL;
        if (a->size)
            error = cl->SetKernelArg(kernel, i, a->size, a->block ? a->block : a->value);
        else
            error = cl->SetKernelArg(kernel, i, sizeof memory, &memory);
    }
    return error;
}

/* Under the queue's lock. */
static collet_status launch(collet_device *d, collet_queue *q, const device_launch *l,
                            uint64_t groups, collet_error *err)
{
    cl_kernel kernel;
    collet_status status = opencl_kernel_get(q, l, &kernel, err);
    if (status != COLLET_OK)
        return status;
    size_t group = d->traits.group, items = groups * group;
    if (items / group != groups)
        return d->host->fail(err, COLLET_REFUSED, "%s: too many groups", l->kernel);
    cl_int error = set_arguments(&d->cl, kernel, l);
    if (error != CL_SUCCESS) {
        /* An argument that does not fit is a mistake of the family, and nothing has run. */
        char why[32];
        return d->host->fail(err, COLLET_REFUSED, "%s: its arguments do not fit: %s", l->kernel,
                             opencl_error_name(error, why));
    }
    opencl_command *c = opencl_begin(q, "kernel", l->kernel);
    snprintf(c->label, sizeof c->label, "%s of %s (%s)", l->kernel, l->source->name, l->options);
    error =
        d->cl.EnqueueNDRangeKernel(q->handle, kernel, 1, NULL, &items, &group, 0, NULL, &c->event);
    return error == CL_SUCCESS ? COLLET_OK : opencl_fail(d, error, l->kernel, err);
}

collet_status device_backend_launch(collet_device *d, collet_queue *q, const device_launch *l,
                                    uint64_t groups, collet_error *err)
{
    collet_buffer *buffers[DEVICE_ARGUMENTS];
    uint32_t count = 0;
    if (atomic_load(&d->lost))
        return d->host->fail(err, COLLET_DEVICE_LOST, "the device is lost");
    for (uint32_t i = 0; i < l->count; i++)
        if (l->arguments[i].buffer)
            buffers[count++] = l->arguments[i].buffer;
    collet_status status = device_pool_before(&d->pool, buffers, count, q, err);
    if (status != COLLET_OK)
        return status;
    pthread_mutex_lock(&q->lock);
    status = launch(d, q, l, groups, err);
    uint64_t ticket = status == COLLET_OK ? opencl_commit(q) : 0;
    pthread_mutex_unlock(&q->lock);
    if (status == COLLET_OK)
        device_pool_used(&d->pool, buffers, count, q, ticket);
    return status;
}
