/* SPDX-License-Identifier: Apache-2.0 */
#include "array.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "context.h"
#include "text.h"

/* ---- Geometry ---------------------------------------------------------------------------- */

static collet_status overflow(int32_t ndim, const int64_t *shape, collet_error *err)
{
    text_buffer t;
    text_clear(&t);
    text_add_shape(&t, ndim, shape);
    return collet_fail(err, COLLET_OVERFLOW, "an array of %s elements does not fit in 64 bits",
                       t.bytes);
}

static collet_status shape_check(collet_dtype dtype, int32_t ndim, const int64_t *shape,
                                 int64_t *size, collet_error *err)
{
    int empty = 0;
    if (!collet_dtype_size(dtype))
        return collet_fail(err, COLLET_DTYPE, "%" PRId32 " is no dtype", dtype);
    if (ndim < 0 || ndim > COLLET_MAX_DIMS || (ndim && !shape))
        return collet_fail(err, COLLET_INVALID, "an array has 0 to %d axes, not %" PRId32 "%s",
                           COLLET_MAX_DIMS, ndim, ndim && !shape ? " without a shape" : "");
    *size = 1;
    for (int32_t i = 0; i < ndim; i++) {
        if (shape[i] < 0)
            return collet_fail(err, COLLET_INVALID, "the extent of axis %" PRId32 " is %" PRId64, i,
                               shape[i]);
        empty |= shape[i] == 0;
    }
    for (int32_t i = 0; !empty && i < ndim; i++)
        if (__builtin_mul_overflow(*size, shape[i], size))
            return overflow(ndim, shape, err);
    int64_t bytes;
    if (empty)
        *size = 0;
    if (__builtin_mul_overflow(*size, (int64_t)collet_dtype_size(dtype), &bytes))
        return overflow(ndim, shape, err);
    return COLLET_OK;
}

/* Elements below and above the first that strides reach; 0 on overflow. */
static int reach(collet_array *a)
{
    int64_t low = 0, high = 0, span;
    a->low = a->high = 0;
    if (a->size == 0)
        return 1;
    for (int32_t i = 0; i < a->ndim; i++) {
        if (__builtin_mul_overflow(a->shape[i] - 1, a->strides[i], &span) ||
            __builtin_add_overflow(span < 0 ? low : high, span, span < 0 ? &low : &high))
            return 0;
    }
    a->low = low;
    a->high = high + 1;
    int64_t bytes, size = (int64_t)collet_dtype_size(a->dtype);
    return !__builtin_mul_overflow(a->high, size, &bytes) &&
           !__builtin_mul_overflow(a->low, size, &bytes);
}

static int contiguous(const collet_array *a)
{
    int64_t expected = 1;
    for (int32_t i = a->ndim - 1; i >= 0 && a->size; i--) {
        if (a->shape[i] != 1 && a->strides[i] != expected)
            return 0;
        expected *= a->shape[i];
    }
    return 1;
}

/* With axes by growing stride, each must step over everything the smaller ones reach. What fails
 * this may still be free of repeats, but such views are rare and are only refused as outputs. */
static int may_repeat(const collet_array *a)
{
    int32_t order[COLLET_MAX_DIMS], count = 0;
    if (a->contiguous)
        return 0;
    for (int32_t i = 0; i < a->ndim; i++) {
        if (a->shape[i] < 2)
            continue;
        int32_t at = count++;
        while (at && llabs(a->strides[order[at - 1]]) > llabs(a->strides[i])) {
            order[at] = order[at - 1];
            at--;
        }
        order[at] = i;
    }
    int64_t reached = 0;
    for (int32_t k = 0; k < count; k++) {
        int64_t stride = llabs(a->strides[order[k]]);
        if (stride <= reached)
            return 1;
        reached += stride * (a->shape[order[k]] - 1);
    }
    return 0;
}

static void settle(collet_array *a)
{
    a->contiguous = contiguous(a);
    a->repeats = may_repeat(a);
}

/* A view of `base`'s storage with everything but shape, strides and offset taken over. */
static collet_status view_create(collet_context *cx, collet_array **out, const collet_array *base,
                                 collet_array **view)
{
    if (!cx)
        return COLLET_INVALID;
    if (!runtime_alive(cx->runtime))
        return runtime_forked(&cx->error);
    if (!out || !base)
        return collet_fail(&cx->error, COLLET_INVALID, "a view needs an array and a place for it");
    collet_array *a = malloc(sizeof *a);
    if (!a)
        return collet_fail(&cx->error, COLLET_NO_MEMORY, "out of memory for a view");
    *a = *base;
    *view = a;
    return COLLET_OK;
}

static void view_finish(collet_array **out, collet_array *a)
{
    a->size = 1;
    for (int32_t i = 0; i < a->ndim; i++)
        a->size = a->shape[i] ? a->size : 0;
    for (int32_t i = 0; i < a->ndim && a->size; i++)
        a->size *= a->shape[i];
    reach(a);
    settle(a);
    storage_retain(a->storage);
    *out = a;
}

int array_same(const collet_array *a, const collet_array *b)
{
    return a->storage == b->storage && a->offset == b->offset && a->dtype == b->dtype &&
           a->ndim == b->ndim &&
           !memcmp(a->shape, b->shape, (size_t)a->ndim * sizeof *a->shape) &&
           !memcmp(a->strides, b->strides, (size_t)a->ndim * sizeof *a->strides);
}

/* Two storages may wrap the same memory of the caller's; others never share any. */
int array_overlaps(const collet_array *a, const collet_array *b)
{
    if (a->storage != b->storage && !(a->storage->wrapped && b->storage->wrapped))
        return 0;
    if (!a->size || !b->size)
        return 0;
    uintptr_t base_a = a->storage == b->storage ? 0 : (uintptr_t)a->storage->host.memory;
    uintptr_t base_b = a->storage == b->storage ? 0 : (uintptr_t)b->storage->host.memory;
    int64_t size_a = (int64_t)collet_dtype_size(a->dtype);
    int64_t size_b = (int64_t)collet_dtype_size(b->dtype);
    uintptr_t low_a = base_a + a->offset + (uintptr_t)(a->low * size_a);
    uintptr_t high_a = base_a + a->offset + (uintptr_t)(a->high * size_a);
    uintptr_t low_b = base_b + b->offset + (uintptr_t)(b->low * size_b);
    uintptr_t high_b = base_b + b->offset + (uintptr_t)(b->high * size_b);
    return low_a < high_b && low_b < high_a;
}

/* ---- Making arrays ----------------------------------------------------------------------- */

static void row_major(collet_array *a)
{
    int64_t stride = 1;
    for (int32_t i = a->ndim - 1; i >= 0; i--) {
        a->strides[i] = stride;
        stride *= a->shape[i] ? a->shape[i] : 1;
    }
}

static collet_status array_allocate(collet_array **out, collet_dtype dtype, int32_t ndim,
                                    const int64_t *shape, collet_error *err)
{
    int64_t size;
    collet_status status = shape_check(dtype, ndim, shape, &size, err);
    if (status != COLLET_OK)
        return status;
    collet_array *a = calloc(1, sizeof *a);
    if (!a)
        return collet_fail(err, COLLET_NO_MEMORY, "out of memory for an array");
    a->dtype = dtype;
    a->ndim = ndim;
    a->size = size;
    for (int32_t i = 0; i < ndim; i++)
        a->shape[i] = shape[i];
    *out = a;
    return COLLET_OK;
}

collet_status array_create(collet_runtime *runtime, collet_array **out, collet_dtype dtype,
                           int32_t ndim, const int64_t *shape, collet_error *err)
{
    collet_array *a = NULL;
    collet_status status = array_allocate(&a, dtype, ndim, shape, err);
    if (status != COLLET_OK)
        return status;
    /* Only an empty array can have strides that overflow; they are never stepped. */
    if (a->size)
        row_major(a);
    reach(a);
    settle(a);
    status = storage_create(runtime, (uint64_t)a->size * collet_dtype_size(dtype), &a->storage, err);
    if (status != COLLET_OK) {
        free(a);
        return status;
    }
    *out = a;
    return COLLET_OK;
}

static collet_status ready(collet_context *cx, const void *out)
{
    if (!cx)
        return COLLET_INVALID;
    if (!runtime_alive(cx->runtime))
        return runtime_forked(&cx->error);
    return out ? COLLET_OK
               : collet_fail(&cx->error, COLLET_INVALID, "an argument that must not be NULL is");
}

collet_status collet_array_create(collet_context *cx, collet_array **out, collet_dtype dtype,
                                  int32_t ndim, const int64_t *shape)
{
    collet_status status = ready(cx, out);
    return status == COLLET_OK ? array_create(cx->runtime, out, dtype, ndim, shape, &cx->error)
                               : status;
}

collet_status collet_array_from(collet_context *cx, collet_array **out, collet_dtype dtype,
                                int32_t ndim, const int64_t *shape, const void *data)
{
    collet_array *a = NULL;
    collet_status status = ready(cx, out);
    if (status != COLLET_OK)
        return status;
    status = array_create(cx->runtime, &a, dtype, ndim, shape, &cx->error);
    if (status != COLLET_OK)
        return status;
    status = collet_array_write(cx, a, data, (size_t)a->size * collet_dtype_size(dtype));
    if (status != COLLET_OK) {
        collet_array_free(a);
        return status;
    }
    *out = a;
    return COLLET_OK;
}

collet_status collet_array_wrap(collet_context *cx, collet_array **out, collet_dtype dtype,
                                int32_t ndim, const int64_t *shape, const int64_t *strides,
                                void *data, void (*deleter)(void *user), void *user)
{
    collet_array *a = NULL;
    collet_status status = ready(cx, out);
    if (status != COLLET_OK)
        return status;
    status = array_allocate(&a, dtype, ndim, shape, &cx->error);
    if (status != COLLET_OK)
        return status;
    int64_t element = (int64_t)collet_dtype_size(dtype);
    int64_t alignment = element > 8 ? 8 : element;
    if (strides)
        memcpy(a->strides, strides, (size_t)ndim * sizeof *strides);
    else if (a->size)
        row_major(a);
    if (a->size && !data)
        status = collet_fail(&cx->error, COLLET_INVALID, "collet_array_wrap: data is NULL");
    else if ((uintptr_t)data % (uintptr_t)alignment)
        status = collet_fail(&cx->error, COLLET_INVALID,
                             "collet_array_wrap: data %p is not aligned to the %" PRId64
                             " bytes of %s",
                             data, alignment, collet_dtype_name(dtype));
    else if (!reach(a))
        status = overflow(ndim, shape, &cx->error);
    if (status == COLLET_OK) {
        settle(a);
        /* The storage begins at the lowest element, which negative strides put before `data`. */
        a->offset = (uint64_t)(-a->low * element);
        status = storage_wrap(cx->runtime, data ? (char *)data - a->offset : NULL,
                              (uint64_t)((a->high - a->low) * element), deleter, user, &a->storage,
                              &cx->error);
    }
    if (status != COLLET_OK) {
        free(a);
        return status;
    }
    *out = a;
    return COLLET_OK;
}

void collet_array_free(collet_array *array)
{
    if (!array)
        return;
    storage_release(array->storage);
    free(array);
}

collet_dtype collet_array_dtype(const collet_array *array)
{
    return array->dtype;
}

int32_t collet_array_ndim(const collet_array *array)
{
    return array->ndim;
}

const int64_t *collet_array_shape(const collet_array *array)
{
    return array->shape;
}

const int64_t *collet_array_strides(const collet_array *array)
{
    return array->strides;
}

int64_t collet_array_size(const collet_array *array)
{
    return array->size;
}

/* ---- Views ------------------------------------------------------------------------------- */

static collet_status view_refuse(collet_context *cx, collet_array *view, collet_status status,
                                 const char *what)
{
    free(view);
    return collet_fail(&cx->error, status, "%s", what);
}

collet_status collet_array_slice(collet_context *cx, collet_array **out, const collet_array *array,
                                 int32_t axis, int64_t start, int64_t count, int64_t step)
{
    collet_array *a = NULL;
    collet_status status = view_create(cx, out, array, &a);
    if (status != COLLET_OK)
        return status;
    if (axis < 0)
        axis += a->ndim;
    if (axis < 0 || axis >= a->ndim)
        return view_refuse(cx, a, COLLET_INVALID, "slice: the array has no such axis");
    int64_t extent = a->shape[axis], last, stride, shift;
    if (count < 0 || (count > 1 && step == 0))
        return view_refuse(cx, a, COLLET_INVALID, "slice: count is negative or step is 0");
    if (count && (__builtin_mul_overflow(count - 1, step, &last) ||
                  __builtin_add_overflow(last, start, &last) || start < 0 || start >= extent ||
                  last < 0 || last >= extent)) {
        free(a);
        return collet_fail(&cx->error, COLLET_SHAPE,
                           "slice: %" PRId64 " elements from %" PRId64 " in steps of %" PRId64
                           " leave the %" PRId64 " elements of axis %" PRId32,
                           count, start, step, extent, axis);
    }
    /* A step along one element or none is never taken. */
    if (__builtin_mul_overflow(a->strides[axis], step, &stride))
        stride = a->strides[axis];
    shift = count ? a->strides[axis] * start : 0;
    a->offset += (uint64_t)(shift * (int64_t)collet_dtype_size(a->dtype));
    a->shape[axis] = count;
    a->strides[axis] = stride;
    view_finish(out, a);
    return COLLET_OK;
}

collet_status collet_array_permute(collet_context *cx, collet_array **out,
                                   const collet_array *array, const int32_t *perm)
{
    collet_array *a = NULL;
    uint32_t seen = 0;
    collet_status status = view_create(cx, out, array, &a);
    if (status != COLLET_OK)
        return status;
    for (int32_t i = 0; i < a->ndim; i++) {
        int32_t axis = perm ? perm[i] : a->ndim - 1 - i;
        if (axis < 0 || axis >= a->ndim || seen >> axis & 1)
            return view_refuse(cx, a, COLLET_INVALID, "permute: perm is no permutation of the axes");
        seen |= 1u << axis;
        a->shape[i] = array->shape[axis];
        a->strides[i] = array->strides[axis];
    }
    view_finish(out, a);
    return COLLET_OK;
}

/*
 * Strides of `a`'s elements under another shape, found by matching runs of old and new axes with
 * equal products; 0 when some run is not stepped evenly.
 */
static int reshaped_strides(const collet_array *a, int32_t ndim, const int64_t *shape,
                            int64_t *strides)
{
    int32_t old = 0, new = 0;
    while (new < ndim) {
        int32_t old_end = old, new_end = new + 1;
        int64_t old_product = 1, new_product = shape[new];
        if (shape[new] == 1) {
            strides[new++] = 1;
            continue;
        }
        while (old_end < a->ndim && old_product < new_product)
            old_product *= a->shape[old_end++];
        while (old_product != new_product) {
            if (new_product < old_product)
                new_product *= shape[new_end++];
            else
                old_product *= a->shape[old_end++];
        }
        int64_t stride = 0, expected = 0;
        int found = 0;
        for (int32_t k = old_end - 1; k >= old; k--) {
            if (a->shape[k] == 1)
                continue;
            if (found && a->strides[k] != expected)
                return 0;
            if (!found)
                stride = a->strides[k];
            found = 1;
            expected = a->strides[k] * a->shape[k];
        }
        for (int32_t k = new_end - 1; k >= new; k--) {
            strides[k] = stride;
            stride *= shape[k];
        }
        old = old_end;
        new = new_end;
    }
    return 1;
}

collet_status collet_array_reshape(collet_context *cx, collet_array **out,
                                   const collet_array *array, int32_t ndim, const int64_t *shape)
{
    collet_array *a = NULL;
    int64_t size;
    collet_status status = view_create(cx, out, array, &a);
    if (status != COLLET_OK)
        return status;
    status = shape_check(a->dtype, ndim, shape, &size, &cx->error);
    if (status != COLLET_OK) {
        free(a);
        return status;
    }
    if (size != a->size) {
        free(a);
        return collet_fail(&cx->error, COLLET_SHAPE,
                           "reshape: %" PRId64 " elements cannot become %" PRId64, array->size,
                           size);
    }
    a->ndim = ndim;
    for (int32_t i = 0; i < ndim; i++)
        a->shape[i] = shape[i];
    if (size && !reshaped_strides(array, ndim, shape, a->strides))
        return view_refuse(cx, a, COLLET_SHAPE,
                           "reshape: the array's strides do not allow this shape without a copy");
    view_finish(out, a);
    return COLLET_OK;
}

collet_status collet_array_broadcast(collet_context *cx, collet_array **out,
                                     const collet_array *array, int32_t ndim, const int64_t *shape)
{
    collet_array *a = NULL;
    int64_t size;
    collet_status status = view_create(cx, out, array, &a);
    if (status != COLLET_OK)
        return status;
    status = shape_check(a->dtype, ndim, shape, &size, &cx->error);
    if (status != COLLET_OK) {
        free(a);
        return status;
    }
    int32_t lead = ndim - array->ndim;
    if (lead < 0)
        return view_refuse(cx, a, COLLET_SHAPE, "broadcast: the shape has fewer axes than the array");
    for (int32_t i = 0; i < ndim; i++) {
        int64_t have = i < lead ? 1 : array->shape[i - lead];
        if (have != 1 && have != shape[i])
            return view_refuse(cx, a, COLLET_SHAPE,
                               "broadcast: the array's shape cannot be repeated to that one");
        a->shape[i] = shape[i];
        a->strides[i] = have == shape[i] && i >= lead ? array->strides[i - lead] : 0;
    }
    a->ndim = ndim;
    view_finish(out, a);
    return COLLET_OK;
}
