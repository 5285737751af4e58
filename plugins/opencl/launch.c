/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/opencl/test_opencl_driver.c, tests/opencl/test_opencl_many_sizes.c */
#include "opencl.h"

#include "shared/host/util/clock.h"

static cl_int set_arguments(const opencl_driver *cl, cl_kernel kernel, const jit_launch *l)
{
    cl_int error = CL_SUCCESS;
    for (uint32_t i = 0; i < l->count && error == CL_SUCCESS; i++) {
        const jit_argument *a = &l->arguments[i];
        cl_mem memory = a->buffer ? a->buffer->memory : NULL;
        if (a->size)
            error = cl->SetKernelArg(kernel, i, a->size, a->block ? a->block : a->value);
        else
            error = cl->SetKernelArg(kernel, i, sizeof memory, &memory);
    }
    return error;
}

/* Gets the queue's private kernel, created on first use; valid until the next call. The caller holds the queue's
 * lock. */
static collet_status kernel_get(collet_queue *q, const jit_launch *l, const jit_kernel **kernel,
                                collet_error *err)
{
    jit_kernel made;
    collet_device *d = q->base.device;
    *kernel = jit_kernels_at(&q->kernels, l);
    if ((*kernel)->handle)
        return COLLET_OK;
    if (jit_kernels_full(&q->kernels))
        opencl_queues.trim(q);
    pthread_mutex_lock(&d->base.programs.lock);
    collet_status status = jit_kernel_make(d, l, &made, err);
    pthread_mutex_unlock(&d->base.programs.lock);
    if (status != COLLET_OK)
        return status;
    jit_kernels_add(&q->kernels, l, &made);
    *kernel = jit_kernels_at(&q->kernels, l);
    return COLLET_OK;
}

/* Enqueues a kernel on a driver that must run one kernel at a time (opencl_is_single). The
 * kernel waits for the kernel that was enqueued last in any queue. */
static cl_int enqueue_single(collet_device *d, collet_queue *q, cl_kernel kernel,
                             const size_t *items, const size_t *group, cl_event *event)
{
    pthread_mutex_lock(&d->launching);
    cl_int status = CL_COMPLETE;
    if (d->launched && d->cl.GetEventInfo(d->launched, CL_EVENT_COMMAND_EXECUTION_STATUS,
                                          sizeof status, &status, NULL) != CL_SUCCESS)
        status = CL_COMPLETE;
    cl_uint waits = status > CL_COMPLETE;
    cl_int error = d->cl.EnqueueNDRangeKernel(q->handle, kernel, 1, NULL, items, group, waits,
                                              waits ? &d->launched : NULL, event);
    if (error == CL_SUCCESS) {
        if (d->launched)
            d->cl.ReleaseEvent(d->launched);
        d->launched = *event;
        d->cl.RetainEvent(*event);
    }
    pthread_mutex_unlock(&d->launching);
    return error;
}

#define LOOK_AGAIN 50000000 /* nanoseconds */

/* Checks PoCL's cache before launches too, because PoCL compiles a kernel again for each new size when it is launched.
 */
static collet_status check_cache(collet_device *d, collet_error *err)
{
    char reason[OPENCL_REASON];
    int64_t now = *d->cache ? clock_now() : 0;
    if (!*d->cache || now - atomic_load(&d->looked_at) < LOOK_AGAIN)
        return COLLET_OK;
    if (opencl_cache_fails(d->cache, reason))
        return d->base.host->fail(err, COLLET_REFUSED, "%s", reason);
    atomic_store(&d->looked_at, now);
    return COLLET_OK;
}

/* The caller holds the queue's lock. */
static collet_status launch(collet_device *d, collet_queue *q, const jit_launch *l, uint64_t groups,
                            collet_error *err)
{
    const jit_kernel *kernel;
    collet_status status = check_cache(d, err);
    if (status == COLLET_OK)
        status = kernel_get(q, l, &kernel, err);
    if (status != COLLET_OK)
        return status;
    size_t group = d->base.traits.group, items = groups * group;
    if (items / group != groups)
        return d->base.host->fail(err, COLLET_REFUSED, "%s: too many groups", l->kernel);
    cl_int error = set_arguments(&d->cl, kernel->handle, l);
    if (error != CL_SUCCESS) {
        /* A wrong argument is a bug in the code that launches the kernel; nothing has run. */
        char why[32];
        return d->base.host->fail(err, COLLET_REFUSED, "%s: wrong argument: %s", l->kernel,
                                  opencl_error_name(error, why));
    }
    opencl_command *c = opencl_begin(q, kernel->label);
    error = d->single ? enqueue_single(d, q, kernel->handle, &items, &group, &c->event)
                      : d->cl.EnqueueNDRangeKernel(q->handle, kernel->handle, 1, NULL, &items,
                                                   &group, 0, NULL, &c->event);
    return error == CL_SUCCESS ? COLLET_OK : opencl_fail(d, error, l->kernel, err);
}

collet_status opencl_launch(collet_device *d, collet_queue *q, const jit_launch *l, uint64_t groups,
                            collet_error *err)
{
    pthread_mutex_lock(&q->base.lock);
    collet_status status = launch(d, q, l, groups, err);
    if (status == COLLET_OK)
        (void)opencl_commit(q);
    pthread_mutex_unlock(&q->base.lock);
    return status;
}
