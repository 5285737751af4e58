/* SPDX-License-Identifier: Apache-2.0 */
/* Copies elements of arrays to and from the program's memory.
 * Tests: tests/core/test_array.c, tests/core/test_copies.c */
#include <inttypes.h>
#include <string.h>

#include <collet/floating.h>

#include "call.h"
#include "memory/access.h"

static collet_status host_ready(collet_context *cx, const collet_array *a, const void *address,
                                size_t bytes, const char *what)
{
    collet_status status = context_check(cx);
    if (status == COLLET_OK)
        status = array_usable(cx, what, a);
    if (status != COLLET_OK)
        return status;
    size_t needed = (size_t)a->size * collet_dtype_size(a->dtype);
    if (bytes != needed)
        return context_fail(cx, COLLET_INVALID, "%s: %zu bytes were given, but the array has %zu",
                            what, bytes, needed);
    if (bytes && !address)
        return context_fail(cx, COLLET_INVALID, "%s: the address is NULL", what);
    return COLLET_OK;
}

static collet_status copy_bytes(collet_context *cx, const collet_array *a, int32_t access,
                                void *target, const void *source, size_t bytes)
{
    void *base;
    int whole = access == COLLET_WRITE && array_is_whole(a);
    collet_status status =
        storage_map(a->storage, access, whole, &base, &cx->moved, context_error(cx));
    if (status != COLLET_OK)
        return runtime_stop(cx->runtime, status);
    /* Uses memmove, because the caller may pass the memory that the array wraps. */
    if (access == COLLET_READ)
        memmove(target, (const char *)base + a->offset, bytes);
    else
        memmove((char *)base + a->offset, source, bytes);
    return storage_unmap(a->storage, context_error(cx));
}

/* Uses a contiguous copy if the view is not contiguous. */
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
        status = call_copy(cx, dense, a);
    if (status == COLLET_OK)
        status = copy_bytes(cx, dense, access, target, source, bytes);
    if (status == COLLET_OK && access == COLLET_WRITE)
        status = call_copy(cx, a, dense);
    collet_array_destroy(dense);
    return status;
}

collet_status collet_array_read(collet_context *cx, const collet_array *array, void *target,
                                size_t bytes)
{
    PROGRAM_CONTEXT(COLLET_INVALID, cx, array);
    COLLET_FLOATING_SCOPE;
    collet_status status = host_ready(cx, array, target, bytes, "collet_array_read");
    return status == COLLET_OK
               ? transfer(cx, (collet_array *)(uintptr_t)array, COLLET_READ, target, NULL, bytes)
               : status;
}

collet_status collet_array_write(collet_context *cx, collet_array *array, const void *source,
                                 size_t bytes)
{
    PROGRAM_CONTEXT(COLLET_INVALID, cx, array);
    COLLET_FLOATING_SCOPE;
    collet_status status = host_ready(cx, array, source, bytes, "collet_array_write");
    if (status == COLLET_OK)
        status = array_acquirable(cx, "collet_array_write", array, COLLET_WRITE);
    return status == COLLET_OK ? transfer(cx, array, COLLET_WRITE, NULL, source, bytes) : status;
}

int32_t collet_array_is_on_host(const collet_array *array)
{
    PROGRAM_CALL(0, NULL, array);
    return array && storage_settled_on_host(array->storage);
}

/* ---- One element -------------------------------------------------------------------------- */

/* Stores the offset of the element in the storage. */
static collet_status find_element(collet_context *cx, const char *what, const collet_array *a,
                                  const int64_t *index, const collet_scalar *value,
                                  uint64_t *offset)
{
    collet_status status = context_check(cx);
    if (status == COLLET_OK)
        status = array_usable(cx, what, a);
    if (status == COLLET_OK && (!value || (a->ndim && !index)))
        status = context_fail(cx, COLLET_INVALID, "%s: %s is NULL", what,
                              value ? "the index" : "the value");
    if (status != COLLET_OK)
        return status;
    int64_t at = 0;
    for (int32_t i = 0; i < a->ndim; i++) {
        if (index[i] < 0 || index[i] >= a->shape[i])
            return context_fail(cx, COLLET_INVALID,
                                "%s: index %" PRId64 " is out of range for axis %" PRId32
                                " of length %" PRId64,
                                what, index[i], i, a->shape[i]);
        at += index[i] * a->strides[i];
    }
    *offset = a->offset + (uint64_t)(at * (int64_t)collet_dtype_size(a->dtype));
    return COLLET_OK;
}

/* Copies an element to `to` or, if that is NULL, from `from`. */
static collet_status copy_element(collet_context *cx, storage *s, uint64_t offset, void *to,
                                  const void *from, size_t bytes)
{
    void *base;
    collet_status status =
        storage_map(s, to ? COLLET_READ : COLLET_WRITE, 0, &base, &cx->moved, context_error(cx));
    if (status != COLLET_OK)
        return runtime_stop(cx->runtime, status);
    memcpy(to ? to : (char *)base + offset, to ? (char *)base + offset : from, bytes);
    return storage_unmap(s, context_error(cx));
}

collet_status collet_array_read_element(collet_context *cx, const collet_array *a,
                                        collet_scalar *value, const int64_t *index)
{
    PROGRAM_CONTEXT(COLLET_INVALID, cx, a);
    uint64_t offset;
    collet_status status = find_element(cx, "collet_array_read_element", a, index, value, &offset);
    if (status != COLLET_OK)
        return status;
    *value = (collet_scalar){.dtype = a->dtype};
    return copy_element(cx, a->storage, offset, value->value.bytes, NULL,
                        collet_dtype_size(a->dtype));
}

collet_status collet_array_write_element(collet_context *cx, collet_array *a, const int64_t *index,
                                         const collet_scalar *value)
{
    PROGRAM_CONTEXT(COLLET_INVALID, cx, a);
    uint64_t offset;
    collet_status status = find_element(cx, "collet_array_write_element", a, index, value, &offset);
    if (status == COLLET_OK && value->dtype != a->dtype)
        return context_fail(cx, COLLET_DTYPE,
                            "collet_array_write_element: the value is %s, the array %s",
                            collet_dtype_name(value->dtype), collet_dtype_name(a->dtype));
    if (status == COLLET_OK)
        status = array_acquirable(cx, "collet_array_write_element", a, COLLET_WRITE);
    return status == COLLET_OK ? copy_element(cx, a->storage, offset, NULL, value->value.bytes,
                                              collet_dtype_size(a->dtype))
                               : status;
}

collet_status collet_array_from(collet_context *cx, collet_array **out, collet_dtype dtype,
                                int32_t ndim, const int64_t *shape, const void *data)
{
    PROGRAM_CONTEXT(COLLET_INVALID, cx);
    COLLET_FLOATING_SCOPE;
    collet_array *a = NULL;
    collet_status status = collet_array_create(cx, out ? &a : NULL, dtype, ndim, shape);
    if (status != COLLET_OK)
        return status;
    status = collet_array_write(cx, a, data, (size_t)a->size * collet_dtype_size(dtype));
    if (status != COLLET_OK) {
        collet_array_destroy(a);
        return status;
    }
    *out = a;
    return COLLET_OK;
}
