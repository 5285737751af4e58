/* SPDX-License-Identifier: Apache-2.0 */
/* Gives access to arrays, queues and devices by the native interface of a device: collet.native/1.
 * Tests: tests/core/test_native.c */
#include "native.h"

#include <inttypes.h>
#include <stdlib.h>

#include <collet/floating.h>

#include "access.h"
#include "storage_life.h"
#include "util/struct.h"

#define KDLCPU 1 /* DLPack's kDLCPU */

/* Sets *d to the device; NULL for the host's memory. */
static collet_status native_space(collet_context *cx, const char *what, const char *name,
                                  device **d)
{
    collet_status status = context_check(cx);
    if (status == COLLET_OK)
        status = context_space(cx, what, name, d);
    if (status != COLLET_OK || !*d || (*d)->extensions.native)
        return status;
    return collet_fail(context_error(cx), COLLET_UNSUPPORTED, "%s: %s offers no native handles",
                       what, (*d)->name);
}

collet_status native_describe(device *d, collet_native_device *native, collet_error *err)
{
    *native =
        (collet_native_device){.struct_size = sizeof *native, .api = "host", .dlpack_type = KDLCPU};
    if (!d)
        return COLLET_OK;
    native->dlpack_type = 0;
    device_enter(d);
    return device_leave(d, d->extensions.native->device(d->handle, native, err));
}

collet_status collet_native_describe(collet_context *cx, collet_native_device *native,
                                     const char *name)
{
    PROGRAM_CONTEXT(COLLET_INVALID, cx);
    COLLET_FLOATING_SCOPE;
    device *d;
    collet_native_device full;
    collet_status status = native_space(cx, "collet_native_describe", name, &d);
    if (status == COLLET_OK && !native)
        status = context_fail(cx, COLLET_INVALID, "collet_native_describe: native is NULL");
    if (status == COLLET_OK)
        status = native_describe(d, &full, context_error(cx));
    return status == COLLET_OK
               ? struct_out(native, &full, sizeof full, "collet_native_device", context_error(cx))
               : status;
}

collet_status collet_native_queue(collet_context *cx, void **handle, const char *name)
{
    PROGRAM_CONTEXT(COLLET_INVALID, cx);
    COLLET_FLOATING_SCOPE;
    device *d;
    lane *l;
    collet_status status = native_space(cx, "collet_native_queue", name, &d);
    if (status == COLLET_OK && !handle)
        status = context_fail(cx, COLLET_INVALID, "collet_native_queue: handle is NULL");
    if (status != COLLET_OK)
        return status;
    *handle = NULL;
    if (!d || d->synchronous)
        return COLLET_OK;
    status = context_lane(cx, d, &l, context_error(cx));
    /* Locking replaces a queue that has failed. */
    if (status == COLLET_OK)
        status = queue_lock(l->queue, context_error(cx));
    if (status != COLLET_OK)
        return status;
    device_enter(d);
    status = device_leave(
        d, d->extensions.native->queue(d->handle, l->queue->handle, handle, context_error(cx)));
    pthread_mutex_unlock(&l->queue->lock);
    return status;
}

/* ---- Arrays ------------------------------------------------------------------------------ */

collet_status native_acquire(collet_context *cx, collet_array *a, device *d, int32_t access,
                             int wait, void **handle)
{
    lane *l;
    collet_buffer *buffer = NULL;
    collet_status status = context_lane(cx, d, &l, context_error(cx));
    if (status == COLLET_OK)
        status = storage_acquire_on(a->storage, l->queue, access, wait, &buffer, &cx->moved,
                                    context_error(cx));
    if (status != COLLET_OK)
        return status;
    device_enter(d);
    status =
        device_leave(d, d->extensions.native->buffer(d->handle, buffer, handle, context_error(cx)));
    if (status != COLLET_OK)
        storage_release_on(a->storage, d, NULL, NULL);
    return status;
}

collet_status collet_array_acquire_on(collet_context *cx, collet_array *array, void **handle,
                                      uint64_t *offset, const char *name, int32_t access)
{
    PROGRAM_CONTEXT(COLLET_INVALID, cx, array);
    COLLET_FLOATING_SCOPE;
    device *d;
    collet_status status = native_space(cx, "collet_array_acquire_on", name, &d);
    if (status == COLLET_OK && (!handle || !offset))
        status =
            context_fail(cx, COLLET_INVALID, "collet_array_acquire_on: handle or offset is NULL");
    if (status == COLLET_OK)
        status = array_acquirable(cx, "collet_array_acquire_on", array, access);
    if (status != COLLET_OK)
        return status;
    status = d ? native_acquire(cx, array, d, access, 0, handle)
               : storage_map(array->storage, access, 0, handle, &cx->moved, context_error(cx));
    if (status == COLLET_OK)
        *offset = array->offset;
    return status;
}

collet_status collet_array_release_on(collet_context *cx, collet_array *array, const char *name)
{
    PROGRAM_CONTEXT(COLLET_INVALID, cx, array);
    COLLET_FLOATING_SCOPE;
    device *d;
    lane *l;
    collet_status status = native_space(cx, "collet_array_release_on", name, &d);
    if (status == COLLET_OK)
        status = array_usable(cx, "collet_array_release_on", array);
    if (status != COLLET_OK)
        return status;
    if (!d)
        return storage_unmap(array->storage, context_error(cx));
    status = context_lane(cx, d, &l, context_error(cx));
    if (status == COLLET_OK)
        status = storage_release_on(array->storage, d, l->queue, context_error(cx));
    if (status == COLLET_OK)
        l->enqueued = atomic_load(&l->queue->submitted);
    return status;
}

collet_status native_wrap(collet_context *cx, device *d, collet_array *a, void *handle,
                          uint64_t offset, uint32_t flags, void (*deleter)(void *user), void *user)
{
    block *b = NULL;
    uint32_t element = (uint32_t)collet_dtype_size(a->dtype);
    if (!a->size)
        return storage_wrap(cx->runtime, NULL, 0, deleter, user, &a->storage, context_error(cx));
    if (offset < a->offset || offset > UINT64_MAX - array_span(a))
        return context_fail(
            cx, COLLET_INVALID,
            "offset is %" PRIu64
            ", which puts elements outside of the memory: the array extends %" PRIu64
            " bytes before its first element",
            offset, a->offset);
    collet_status status =
        block_import(d, handle, offset - a->offset, array_span(a), element, &b, context_error(cx));
    if (status != COLLET_OK)
        return status;
    status = storage_wrap_block(cx->runtime, b, deleter, user, &a->storage, context_error(cx));
    if (status != COLLET_OK) {
        block_free(b);
        return status;
    }
    array_take_flags(a, flags);
    return COLLET_OK;
}

collet_status collet_array_wrap_on(collet_context *cx, collet_array **out, const char *name,
                                   collet_dtype dtype, int32_t ndim, const int64_t *shape,
                                   const int64_t *strides, void *handle, uint64_t offset,
                                   uint32_t flags, void (*deleter)(void *user), void *user)
{
    PROGRAM_CONTEXT(COLLET_INVALID, cx);
    COLLET_FLOATING_SCOPE;
    device *d;
    collet_array *a = NULL;
    collet_status status = native_space(cx, "collet_array_wrap_on", name, &d);
    if (status == COLLET_OK && !out)
        status = context_fail(cx, COLLET_INVALID,
                              "collet_array_wrap_on: the address of the new array is NULL");
    if (status == COLLET_OK && !d && handle && !array_address(&handle, offset))
        status = context_fail(cx, COLLET_INVALID,
                              "collet_array_wrap_on: address %p with offset %" PRIu64
                              " is outside of the address space",
                              handle, offset);
    if (status == COLLET_OK && !d)
        return collet_array_wrap(cx, out, dtype, ndim, shape, strides, handle, flags, deleter,
                                 user);
    if (status == COLLET_OK)
        status = array_wrapping("collet_array_wrap_on", &a, dtype, ndim, shape, strides, flags,
                                context_error(cx));
    if (status != COLLET_OK)
        return status;
    if (a->size && !handle)
        status =
            collet_fail(context_error(cx), COLLET_INVALID, "collet_array_wrap_on: handle is NULL");
    else
        status = native_wrap(cx, d, a, handle, offset, flags, deleter, user);
    if (status != COLLET_OK) {
        programs_free(a);
        return status;
    }
    *out = a;
    return COLLET_OK;
}
