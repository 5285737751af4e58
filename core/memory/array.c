/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_array.c, tests/core/test_views_random.c */
#include "array.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <collet/floating.h>

#include "context/context.h"
#include "storage_life.h"
#include "util/shape.h"

/* ---- Geometry ---------------------------------------------------------------------------- */

/* Larger than any address space; sums and differences of smaller values do not overflow. */
#define REACH_MAX (INT64_MAX / 4)

int array_reach(collet_array *a)
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
    a->high = high == INT64_MAX ? high : high + 1;
    int64_t most = REACH_MAX / (int64_t)collet_dtype_size(a->dtype);
    return high < most && low > -most && high - low < most;
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

/* 1 if elements may repeat. The axes are sorted by stride; each axis must step over all bytes that the axes before it
 * reach. This is sufficient, but not necessary: some rare views fail the test although they repeat no element; they
 * cannot be outputs. */
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

/* Skip axes with at most one element: their strides may be any 64-bit number, and products with
 * them may overflow. */
static void settle_strides(collet_array *a)
{
    int64_t dense = 1;
    for (int32_t i = a->ndim - 1; i >= 0; i--) {
        if (!a->size)
            a->strides[i] = 0;
        else if (a->shape[i] == 1)
            a->strides[i] = dense;
        dense = a->strides[i] * a->shape[i];
    }
}

void array_settle(collet_array *a)
{
    settle_strides(a);
    a->contiguous = contiguous(a);
    a->repeats = may_repeat(a);
}

int array_same(const collet_array *a, const collet_array *b)
{
    return a->storage == b->storage && a->offset == b->offset && a->dtype == b->dtype &&
           a->ndim == b->ndim && !memcmp(a->shape, b->shape, (size_t)a->ndim * sizeof *a->shape) &&
           !memcmp(a->strides, b->strides, (size_t)a->ndim * sizeof *a->strides);
}

/* Sets *end so that the axes of `a` whose steps are not multiples of `period` reach the bytes [0,
 * *end), counted from its lowest byte; returns 0 if *end > period. */
static int residues(const collet_array *a, int64_t period, int64_t *end)
{
    int64_t size = (int64_t)collet_dtype_size(a->dtype), reach = 0;
    for (int32_t i = 0; i < a->ndim; i++)
        if (a->shape[i] > 1 && llabs(a->strides[i]) * size % period)
            reach += llabs(a->strides[i]) * size * (a->shape[i] - 1);
    *end = reach + size;
    return *end <= period;
}

/* 1 if views with overlapping ranges are interleaved and share no byte, such as two columns of a
 * table. If addresses are taken modulo the length of a long step, each view is one run of bytes. The runs must be
 * disjoint. `shift` is the distance from the lowest byte of `a` to the lowest byte of `b`. */
static int interleave(const collet_array *a, const collet_array *b, int64_t shift)
{
    const collet_array *both[] = {a, b};
    for (int32_t k = 0; k < 2 * COLLET_MAX_DIMS; k++) {
        const collet_array *from = both[k / COLLET_MAX_DIMS];
        int32_t axis = k % COLLET_MAX_DIMS;
        if (axis >= from->ndim || from->shape[axis] < 2 || !from->strides[axis])
            continue;
        int64_t period = llabs(from->strides[axis]) * (int64_t)collet_dtype_size(from->dtype);
        int64_t gap = shift % period;
        int64_t end_a, end_b;
        gap += gap < 0 ? period : 0;
        if (residues(a, period, &end_a) && residues(b, period, &end_b) && end_a <= gap &&
            gap + end_b <= period)
            return 1;
    }
    return 0;
}

/* Different storages can share memory only if both wrap it. */
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
    return low_a < high_b && low_b < high_a && !interleave(a, b, (int64_t)(low_b - low_a));
}

const char *array_refused_as_outputs(const collet_array *const *outs, uint32_t count,
                                     uint32_t *which, uint32_t *other)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!outs[i])
            continue;
        *which = *other = i;
        if (outs[i]->repeats)
            return "repeats elements (a broadcast view, or strides that overlap) and cannot be "
                   "written";
        if (outs[i]->storage->readonly)
            return "wraps read-only memory and cannot be written";
        for (uint32_t k = 0; k < i; k++)
            if (outs[k] && array_overlaps(outs[i], outs[k])) {
                *which = k;
                return "overlap";
            }
    }
    return NULL;
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

/* Allocates an array without a storage. */
static collet_array *array_allocate(collet_error *err)
{
    collet_array *a =
        malloc(sizeof *a); /* calloc is slower: it does not use malloc's cache of the thread */
    if (!a)
        collet_fail(err, COLLET_NO_MEMORY, "out of memory for an array");
    return a;
}

static void array_begin(collet_array *a, collet_dtype dtype, int32_t ndim, const int64_t *shape,
                        int64_t size)
{
    *a = (collet_array){.dtype = dtype, .ndim = ndim, .size = size};
    programs_made("array", a);
    for (int32_t i = 0; i < ndim; i++)
        a->shape[i] = shape[i];
}

collet_status array_create(collet_runtime *runtime, collet_array **out, collet_dtype dtype,
                           int32_t ndim, const int64_t *shape, collet_error *err)
{
    storage *s = NULL;
    int64_t size;
    int apart = programs_checked(); /* the checks free a destroyed array later than its storage */
    collet_status status = shape_check(dtype, ndim, shape, &size, err);
    if (status == COLLET_OK)
        status = storage_create(runtime, (uint64_t)size * collet_dtype_size(dtype),
                                apart ? 0 : sizeof(collet_array), &s, err);
    if (status != COLLET_OK)
        return status;
    collet_array *a = apart ? array_allocate(err) : (collet_array *)(s + 1);
    if (!a) {
        storage_release(s);
        return COLLET_NO_MEMORY;
    }
    array_begin(a, dtype, ndim, shape, size);
    a->storage = s;
    a->behind = !apart;
    /* Strides overflow only in empty arrays, where they are not used. */
    if (size)
        row_major(a);
    array_reach(a);
    array_settle(a);
    *out = a;
    return COLLET_OK;
}

collet_status array_create_on(storage *s, collet_array **out, const collet_array *like,
                              collet_error *err)
{
    collet_array *a = array_allocate(err);
    if (!a)
        return COLLET_NO_MEMORY;
    *a = *like;
    a->storage = s;
    a->behind = 0;
    programs_made("array", a);
    storage_retain(s);
    *out = a;
    return COLLET_OK;
}

static collet_status ready(collet_context *cx, const void *out)
{
    collet_status status = context_check(cx);
    return status != COLLET_OK || out
               ? status
               : context_fail(cx, COLLET_INVALID, "the address of the new array (out) is NULL");
}

collet_status collet_array_create(collet_context *cx, collet_array **out, collet_dtype dtype,
                                  int32_t ndim, const int64_t *shape)
{
    PROGRAM_CONTEXT(COLLET_INVALID, cx);
    COLLET_FLOATING_SCOPE;
    collet_status status = ready(cx, out);
    return status == COLLET_OK
               ? array_create(cx->runtime, out, dtype, ndim, shape, context_error(cx))
               : status;
}

collet_status array_wrapping(const char *what, collet_array **out, collet_dtype dtype, int32_t ndim,
                             const int64_t *shape, const int64_t *strides, uint32_t flags,
                             collet_error *err)
{
    int64_t size;
    collet_status status = shape_check(dtype, ndim, shape, &size, err);
    collet_array *a = status == COLLET_OK ? array_allocate(err) : NULL;
    if (!a)
        return status == COLLET_OK ? COLLET_NO_MEMORY : status;
    array_begin(a, dtype, ndim, shape, size);
    if (strides)
        memcpy(a->strides, strides, (size_t)ndim * sizeof *strides);
    else if (a->size)
        row_major(a);
    if (flags & ~(COLLET_WRAP_READONLY | COLLET_WRAP_SHARED))
        status = collet_fail(err, COLLET_INVALID,
                             "%s: flags is 0x%" PRIx32
                             "; it must be 0, 1 (read-only), 2 (shared) or 3 (both)",
                             what, flags);
    else if (!array_reach(a))
        status = shape_overflow(ndim, shape, err);
    if (status != COLLET_OK) {
        programs_free(a);
        return status;
    }
    array_settle(a);
    /* The storage begins at the lowest element, which is not the first if strides are negative. */
    a->offset = (uint64_t)(-a->low * (int64_t)collet_dtype_size(dtype));
    *out = a;
    return COLLET_OK;
}

uint64_t array_span(const collet_array *a)
{
    return (uint64_t)(a->high - a->low) * collet_dtype_size(a->dtype);
}

collet_status collet_array_wrap(collet_context *cx, collet_array **out, collet_dtype dtype,
                                int32_t ndim, const int64_t *shape, const int64_t *strides,
                                void *data, uint32_t flags, void (*deleter)(void *user), void *user)
{
    PROGRAM_CONTEXT(COLLET_INVALID, cx);
    COLLET_FLOATING_SCOPE;
    collet_array *a = NULL;
    collet_status status = ready(cx, out);
    if (status == COLLET_OK)
        status = array_wrapping("collet_array_wrap", &a, dtype, ndim, shape, strides, flags,
                                context_error(cx));
    if (status != COLLET_OK)
        return status;
    uintptr_t end;
    size_t element = collet_dtype_size(dtype), alignment = element > 8 ? 8 : element;
    if (a->size && !data)
        status = collet_fail(context_error(cx), COLLET_INVALID, "collet_array_wrap: data is NULL");
    else if ((uintptr_t)data % alignment)
        status = collet_fail(context_error(cx), COLLET_INVALID,
                             "collet_array_wrap: data %p is not aligned to the %zu bytes of %s",
                             data, alignment, collet_dtype_name(dtype));
    else if (data && ((uintptr_t)data < a->offset ||
                      __builtin_add_overflow((uintptr_t)data - a->offset, array_span(a), &end)))
        status = collet_fail(
            context_error(cx), COLLET_INVALID,
            "collet_array_wrap: with data at %p the strides reach outside of the address space",
            data);
    if (status == COLLET_OK)
        status = storage_wrap(cx->runtime, data ? (char *)data - a->offset : NULL, array_span(a),
                              deleter, user, &a->storage, context_error(cx));
    if (status != COLLET_OK) {
        programs_free(a);
        return status;
    }
    array_take_flags(a, flags);
    *out = a;
    return COLLET_OK;
}

void collet_array_destroy(collet_array *array)
{
    PROGRAM_CALL(, NULL, array);
    COLLET_FLOATING_SCOPE;
    if (!array)
        return;
    int behind = array->behind;
    storage_release(array->storage);
    if (!behind)
        programs_free(array);
}

int32_t collet_array_is_shared(const collet_array *array)
{
    PROGRAM_CALL(0, NULL, array);
    return storage_is_shared(array->storage);
}

collet_dtype collet_array_dtype(const collet_array *array)
{
    PROGRAM_CALL(COLLET_DTYPE_NONE, NULL, array);
    return array->dtype;
}

int32_t collet_array_ndim(const collet_array *array)
{
    PROGRAM_CALL(0, NULL, array);
    return array->ndim;
}

const int64_t *collet_array_shape(const collet_array *array)
{
    PROGRAM_CALL(NULL, NULL, array);
    return array->shape;
}

const int64_t *collet_array_strides(const collet_array *array)
{
    PROGRAM_CALL(NULL, NULL, array);
    return array->strides;
}

int64_t collet_array_size(const collet_array *array)
{
    PROGRAM_CALL(0, NULL, array);
    return array->size;
}

collet_runtime *collet_array_runtime(const collet_array *array)
{
    PROGRAM_CALL(NULL, NULL, array);
    return array->storage->runtime;
}
