/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_array.c, tests/core/test_storage.c */
#include "access.h"

#include <string.h>

#include <collet/floating.h>

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

collet_status array_copy_on_host(collet_context *cx, collet_array *to, const collet_array *from)
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

collet_status array_acquirable(collet_context *cx, const char *what, const collet_array *a,
                               int32_t access)
{
    collet_status status = array_usable(cx, what, a);
    if (status != COLLET_OK)
        return status;
    if (!(access & (COLLET_READ | COLLET_WRITE)) || access & ~(COLLET_READ | COLLET_WRITE))
        return context_fail(cx, COLLET_INVALID,
                            "%s: access is %d; it must be 1 (read), 2 (write) or 3 (both)", what,
                            access);
    if ((access & COLLET_WRITE) && a->repeats)
        return context_fail(cx, COLLET_INVALID,
                            "%s: the view repeats elements and cannot be written", what);
    if ((access & COLLET_WRITE) && a->storage->readonly)
        return context_fail(cx, COLLET_INVALID, "%s: " ARRAY_READONLY, what);
    return COLLET_OK;
}

collet_status collet_array_acquire(collet_context *cx, collet_array *array, void **address,
                                   int32_t access)
{
    PROGRAM_CONTEXT(COLLET_INVALID, cx, array);
    COLLET_FLOATING_SCOPE;
    void *base = NULL;
    collet_status status = context_check(cx);
    if (status == COLLET_OK && !address)
        status = context_fail(cx, COLLET_INVALID, "collet_array_acquire: address is NULL");
    if (status == COLLET_OK)
        status = array_acquirable(cx, "collet_array_acquire", array, access);
    if (status != COLLET_OK)
        return status;
    status = storage_map(array->storage, access, 0, &base, &cx->moved, context_error(cx));
    if (status == COLLET_OK)
        *address = (char *)base + array->offset;
    return runtime_stop(cx->runtime, status);
}

collet_status collet_array_release(collet_context *cx, collet_array *array)
{
    PROGRAM_CONTEXT(COLLET_INVALID, cx, array);
    COLLET_FLOATING_SCOPE;
    collet_status status = context_check(cx);
    if (status == COLLET_OK)
        status = array_usable(cx, "collet_array_release", array);
    return status == COLLET_OK ? storage_unmap(array->storage, context_error(cx)) : status;
}

void *collet_array_host_address(collet_array *array, int32_t access)
{
    PROGRAM_CALL(NULL, NULL, array);
    storage *s = array ? array->storage : NULL;
    if (!s || programs_checked() || !runtime_alive(s->runtime) ||
        (access & COLLET_WRITE && (array->repeats || s->readonly)) ||
        (!storage_settled_on_host(s) && (access != COLLET_WRITE || !storage_settle_new(s))))
        return NULL;
    return (char *)s->host.memory + array->offset;
}

collet_status collet_array_prefetch(collet_context *cx, collet_array *array, const char *name)
{
    PROGRAM_CONTEXT(COLLET_INVALID, cx, array);
    COLLET_FLOATING_SCOPE;
    device *d = NULL;
    lane *l = NULL;
    void *address;
    collet_status status = context_check(cx);
    if (status == COLLET_OK)
        status = array_usable(cx, "collet_array_prefetch", array);
    if (status == COLLET_OK)
        status = context_space(cx, "collet_array_prefetch", name, &d);
    if (status != COLLET_OK)
        return status;
    if (!d) {
        status =
            storage_map(array->storage, COLLET_READ, 0, &address, &cx->moved, context_error(cx));
        return status == COLLET_OK ? storage_unmap(array->storage, context_error(cx)) : status;
    }
    status = context_lane(cx, d, &l, context_error(cx));
    if (status == COLLET_OK)
        status = storage_prefetch(array->storage, l->queue, &cx->moved, context_error(cx));
    if (status == COLLET_OK)
        l->enqueued = atomic_load(&l->queue->submitted);
    return status;
}
