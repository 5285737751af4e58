/* SPDX-License-Identifier: Apache-2.0 */
/* Host access to arrays: read, write, acquire, release. */
#include <string.h>

#include "array.h"
#include "runtime/context.h"

static collet_status host_ready(collet_context *cx, const collet_array *a, const void *address,
                                size_t bytes, const char *what)
{
    if (!cx)
        return COLLET_INVALID;
    if (!runtime_alive(cx->runtime))
        return runtime_forked(&cx->error);
    if (!a)
        return context_fail(cx, COLLET_INVALID, "%s: the array is NULL", what);
    size_t wanted = (size_t)a->size * collet_dtype_size(a->dtype);
    if (bytes != wanted)
        return context_fail(cx, COLLET_INVALID, "%s: %zu bytes were given, the array has %zu", what,
                            bytes, wanted);
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
        storage_lend(from->storage, COLLET_READ, 0, &source, &cx->moved, &cx->error);
    if (status != COLLET_OK)
        return status;
    status = storage_lend(to->storage, COLLET_WRITE, array_is_whole(to), &target, &cx->moved,
                          &cx->error);
    if (status == COLLET_OK) {
        copy_axes(to, (char *)target + to->offset, from, (const char *)source + from->offset, 0);
        storage_give_back(to->storage, NULL);
    }
    storage_give_back(from->storage, NULL);
    return status;
}

/* Copies that core makes must work even where the backend has no copy kernel for the dtype, is out
 * of memory, or is lost. */
collet_status array_assign(collet_context *cx, collet_array *to, const collet_array *from)
{
    collet_error before = cx->error;
    collet_status status = collet_copy(cx, to, from);
    if (status != COLLET_UNSUPPORTED && status != COLLET_REFUSED && status != COLLET_UNAVAILABLE &&
        status != COLLET_DEVICE_LOST)
        return status;
    cx->error = before;
    return copy_on_host(cx, to, from);
}

static collet_status twin_create(collet_context *cx, const collet_array *a, collet_array **twin)
{
    return array_create(cx->runtime, twin, a->dtype, a->ndim, a->shape, &cx->error);
}

/* ---- Elements ---------------------------------------------------------------------------- */

static collet_status copy_bytes(collet_context *cx, const collet_array *a, int32_t access,
                                void *target, const void *source, size_t bytes)
{
    void *base;
    int whole = access == COLLET_WRITE && array_is_whole(a);
    collet_status status = storage_lend(a->storage, access, whole, &base, &cx->moved, &cx->error);
    if (status != COLLET_OK)
        return status;
    /* The caller may pass the memory that it has wrapped. */
    if (access == COLLET_READ)
        memmove(target, (const char *)base + a->offset, bytes);
    else
        memmove((char *)base + a->offset, source, bytes);
    return storage_give_back(a->storage, &cx->error);
}

collet_status collet_array_read(collet_context *cx, const collet_array *array, void *target,
                                size_t bytes)
{
    collet_array *twin = NULL;
    collet_status status = host_ready(cx, array, target, bytes, "collet_array_read");
    if (status != COLLET_OK || !bytes)
        return status;
    if (array->contiguous)
        return copy_bytes(cx, array, COLLET_READ, target, NULL, bytes);
    status = twin_create(cx, array, &twin);
    if (status == COLLET_OK)
        status = array_assign(cx, twin, array);
    if (status == COLLET_OK)
        status = copy_bytes(cx, twin, COLLET_READ, target, NULL, bytes);
    collet_array_free(twin);
    return status;
}

collet_status collet_array_write(collet_context *cx, collet_array *array, const void *source,
                                 size_t bytes)
{
    collet_array *twin = NULL;
    collet_status status = host_ready(cx, array, source, bytes, "collet_array_write");
    if (status != COLLET_OK || !bytes)
        return status;
    if (array->contiguous)
        return copy_bytes(cx, array, COLLET_WRITE, NULL, source, bytes);
    status = twin_create(cx, array, &twin);
    if (status == COLLET_OK)
        status = copy_bytes(cx, twin, COLLET_WRITE, NULL, source, bytes);
    if (status == COLLET_OK)
        status = array_assign(cx, array, twin);
    collet_array_free(twin);
    return status;
}

collet_status collet_array_acquire(collet_context *cx, collet_array *array, int32_t access,
                                   void **address)
{
    void *base = NULL;
    if (!cx)
        return COLLET_INVALID;
    if (!runtime_alive(cx->runtime))
        return runtime_forked(&cx->error);
    if (!array || !address || !(access & (COLLET_READ | COLLET_WRITE)) ||
        access & ~(COLLET_READ | COLLET_WRITE))
        return context_fail(
            cx, COLLET_INVALID,
            "collet_array_acquire: an argument is NULL, or access is not COLLET_READ "
            "or COLLET_WRITE");
    if ((access & COLLET_WRITE) && array->repeats)
        return context_fail(
            cx, COLLET_INVALID,
            "collet_array_acquire: the view repeats elements and cannot be written");
    collet_status status = storage_lend(array->storage, access, 0, &base, &cx->moved, &cx->error);
    if (status == COLLET_OK)
        *address = (char *)base + array->offset;
    return status;
}

collet_status collet_array_release(collet_context *cx, collet_array *array)
{
    if (!cx)
        return COLLET_INVALID;
    if (!runtime_alive(cx->runtime))
        return runtime_forked(&cx->error);
    if (!array)
        return context_fail(cx, COLLET_INVALID, "collet_array_release: the array is NULL");
    return storage_give_back(array->storage, &cx->error);
}
