/* SPDX-License-Identifier: Apache-2.0 */
/* Host access to arrays: read, write, acquire, release. */
#include <string.h>

#include <collet/floating.h>

#include "array.h"
#include "context/context.h"

#define READONLY "the array wraps read-only memory and cannot be written"

static collet_status host_ready(collet_context *cx, const collet_array *a, const void *address,
                                size_t bytes, const char *what)
{
    collet_status status = context_ready(cx, what);
    if (status != COLLET_OK)
        return status;
    if (!a)
        return context_fail(cx, COLLET_INVALID, "%s: the array is NULL", what);
    size_t needed = (size_t)a->size * collet_dtype_size(a->dtype);
    if (bytes != needed)
        return context_fail(cx, COLLET_INVALID, "%s: %zu bytes were given, the array has %zu", what,
                            bytes, needed);
    if (bytes && !address)
        return context_fail(cx, COLLET_INVALID, "%s: the address is NULL", what);
    return COLLET_OK;
}

/* ---- Copies in host memory --------------------------------------------- */

static void copy_axes(const collet_array *to, char *target, const collet_array *from,
                      const char *source, int32_t axis)
{
    size_t size = collet_dtype_size(to->dtype);
    if (axis == to->ndim) {
        memcpy(target, source, size);
        return;
    }
    for (int64_t i = 0; i < to->shape[axis]; i++)
        copy_axes(to, target + i * to->strides[axis] * (int64_t)size, from,
                  source + i * from->strides[axis] * (int64_t)size, axis + 1);
}

static collet_status copy_on_host(collet_context *cx, collet_array *to, const collet_array *from)
{
    void *target, *source;
    collet_status status =
        storage_map(from->storage, COLLET_READ, 0, &source, &cx->moved, context_error(cx));
    if (status != COLLET_OK)
        return status;
    status = storage_map(to->storage, COLLET_WRITE, array_is_whole(to), &target, &cx->moved,
                         context_error(cx));
    if (status == COLLET_OK) {
        copy_axes(to, (char *)target + to->offset, from, (const char *)source + from->offset, 0);
        storage_unmap(to->storage, NULL);
    }
    storage_unmap(from->storage, NULL);
    return status;
}

/* Copies that core makes must work even where the backend has no copy kernel for the dtype, is out
 * of memory, or is lost. */
collet_status array_assign(collet_context *cx, collet_array *to, const collet_array *from)
{
    collet_error *error = context_error(cx), before = *error;
    collet_status status = collet_copy(cx, to, from);
    if (cx->recording || (status != COLLET_UNSUPPORTED && status != COLLET_REFUSED &&
                          status != COLLET_UNAVAILABLE && status != COLLET_DEVICE_LOST))
        return status;
    *error = before;
    return copy_on_host(cx, to, from);
}

/* ---- Elements ---------------------------------------------------------------------------- */

static collet_status copy_bytes(collet_context *cx, const collet_array *a, int32_t access,
                                void *target, const void *source, size_t bytes)
{
    void *base;
    int whole = access == COLLET_WRITE && array_is_whole(a);
    collet_status status =
        storage_map(a->storage, access, whole, &base, &cx->moved, context_error(cx));
    if (status != COLLET_OK)
        return status;
    /* The caller may pass the memory that it has wrapped. */
    if (access == COLLET_READ)
        memmove(target, (const char *)base + a->offset, bytes);
    else
        memmove((char *)base + a->offset, source, bytes);
    return storage_unmap(a->storage, context_error(cx));
}

/* Through a contiguous copy where the view is not contiguous. */
static collet_status transfer(collet_context *cx, collet_array *a, int32_t access, void *target,
                              const void *source, size_t bytes)
{
    collet_array *dense = NULL;
    if (!bytes)
        return COLLET_OK;
    if (a->contiguous)
        return copy_bytes(cx, a, access, target, source, bytes);
    collet_status status =
        array_create(cx->runtime, &dense, a->dtype, a->ndim, a->shape, context_error(cx));
    if (status == COLLET_OK && access == COLLET_READ)
        status = array_assign(cx, dense, a);
    if (status == COLLET_OK)
        status = copy_bytes(cx, dense, access, target, source, bytes);
    if (status == COLLET_OK && access == COLLET_WRITE)
        status = array_assign(cx, a, dense);
    collet_array_free(dense);
    return status;
}

collet_status collet_array_read(collet_context *cx, const collet_array *array, void *target,
                                size_t bytes)
{
    COLLET_FLOATING_SCOPE;
    collet_status status = host_ready(cx, array, target, bytes, "collet_array_read");
    return status == COLLET_OK
               ? transfer(cx, (collet_array *)(uintptr_t)array, COLLET_READ, target, NULL, bytes)
               : status;
}

collet_status collet_array_write(collet_context *cx, collet_array *array, const void *source,
                                 size_t bytes)
{
    COLLET_FLOATING_SCOPE;
    collet_status status = host_ready(cx, array, source, bytes, "collet_array_write");
    if (status == COLLET_OK && array->storage->readonly)
        return context_fail(cx, COLLET_INVALID, "collet_array_write: " READONLY);
    return status == COLLET_OK ? transfer(cx, array, COLLET_WRITE, NULL, source, bytes) : status;
}

collet_status array_acquirable(collet_context *cx, const char *what, const collet_array *a,
                               int32_t access)
{
    if (!a)
        return context_fail(cx, COLLET_INVALID, "%s: the array is NULL", what);
    if (!(access & (COLLET_READ | COLLET_WRITE)) || access & ~(COLLET_READ | COLLET_WRITE))
        return context_fail(cx, COLLET_INVALID, "%s: access is %d, not reading, writing or both",
                            what, access);
    if ((access & COLLET_WRITE) && a->repeats)
        return context_fail(cx, COLLET_INVALID,
                            "%s: the view repeats elements and cannot be written", what);
    if ((access & COLLET_WRITE) && a->storage->readonly)
        return context_fail(cx, COLLET_INVALID, "%s: " READONLY, what);
    return COLLET_OK;
}

collet_status collet_array_acquire(collet_context *cx, collet_array *array, int32_t access,
                                   void **address)
{
    COLLET_FLOATING_SCOPE;
    void *base = NULL;
    collet_status status = context_ready(cx, "collet_array_acquire");
    if (status == COLLET_OK && !address)
        status = context_fail(cx, COLLET_INVALID, "collet_array_acquire: address is NULL");
    if (status == COLLET_OK)
        status = array_acquirable(cx, "collet_array_acquire", array, access);
    if (status != COLLET_OK)
        return status;
    status = storage_map(array->storage, access, 0, &base, &cx->moved, context_error(cx));
    if (status == COLLET_OK)
        *address = (char *)base + array->offset;
    return status;
}

collet_status collet_array_release(collet_context *cx, collet_array *array)
{
    COLLET_FLOATING_SCOPE;
    collet_status status = context_ready(cx, "collet_array_release");
    if (status == COLLET_OK && !array)
        status = context_fail(cx, COLLET_INVALID, "collet_array_release: the array is NULL");
    return status == COLLET_OK ? storage_unmap(array->storage, context_error(cx)) : status;
}
