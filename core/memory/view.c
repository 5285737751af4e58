/* SPDX-License-Identifier: Apache-2.0 */
/* Creates views of an array: the same storage with another shape and other strides.
 * Tests: tests/core/test_array.c, tests/core/test_views_random.c */
#include <inttypes.h>
#include <stdlib.h>

#include <collet/floating.h>

#include "access.h"
#include "storage_life.h"
#include "util/shape.h"

/* Allocates a view of the storage of `base`; the caller sets shape, strides and offset. */
static collet_status view_create(collet_context *cx, const char *what, collet_array **out,
                                 const collet_array *base, collet_array **view)
{
    collet_status status = context_check(cx);
    if (status == COLLET_OK && !out)
        status =
            context_fail(cx, COLLET_INVALID, "%s: the address of the view (out) is NULL", what);
    if (status == COLLET_OK)
        status = array_usable(cx, what, base);
    if (status != COLLET_OK)
        return status;
    collet_array *a = malloc(sizeof *a);
    if (!a)
        return collet_fail(context_error(cx), COLLET_NO_MEMORY, "out of memory for a view");
    *a = *base;
    a->behind = 0;
    programs_made("array", a);
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
    array_reach(a);
    array_settle(a);
    storage_retain(a->storage);
    *out = a;
}

#define VIEW_REFUSE(status, ...) (programs_free(a), collet_fail(context_error(cx), status, __VA_ARGS__))

/* view_create for a view along one axis. Afterwards *axis is counted from the front. */
static collet_status view_along(collet_context *cx, const char *what, collet_array **out,
                                const collet_array *array, collet_array **made, int32_t *axis)
{
    collet_status status = view_create(cx, what, out, array, made);
    if (status != COLLET_OK)
        return status;
    collet_array *a = *made;
    int32_t ndim = a->ndim;
    if (*axis < -ndim || *axis >= ndim)
        return VIEW_REFUSE(COLLET_INVALID,
                           "%s: axis %" PRId32 " is out of range: the array has %" PRId32 " axes",
                           what, *axis, ndim);
    *axis += *axis < 0 ? ndim : 0;
    return COLLET_OK;
}

collet_status collet_array_slice(collet_context *cx, const collet_array *array, collet_array **out,
                                 int32_t axis, int64_t start, int64_t count, int64_t step)
{
    PROGRAM_CONTEXT(COLLET_INVALID, cx, array);
    COLLET_FLOATING_SCOPE;
    collet_array *a = NULL;
    collet_status status = view_along(cx, "slice", out, array, &a, &axis);
    if (status != COLLET_OK)
        return status;
    int64_t extent = a->shape[axis], last, stride, shift;
    if (count < 0)
        return VIEW_REFUSE(COLLET_INVALID, "slice: count is %" PRId64 "; it must not be negative",
                           count);
    if (count > 1 && step == 0)
        return VIEW_REFUSE(COLLET_INVALID, "slice: step is 0, but count is %" PRId64, count);
    if (count && (__builtin_mul_overflow(count - 1, step, &last) ||
                  __builtin_add_overflow(last, start, &last) || start < 0 || start >= extent ||
                  last < 0 || last >= extent))
        return VIEW_REFUSE(COLLET_SHAPE,
                           "slice: %" PRId64 " elements from %" PRId64 " in steps of %" PRId64
                           " are not all within the %" PRId64 " elements of axis %" PRId32,
                           count, start, step, extent, axis);
    /* Strides of axes with at most one element are not used, so they need no check. */
    if (__builtin_mul_overflow(a->strides[axis], step, &stride))
        stride = a->strides[axis];
    shift = count ? a->strides[axis] * start : 0;
    a->offset += (uint64_t)(shift * (int64_t)collet_dtype_size(a->dtype));
    a->shape[axis] = count;
    a->strides[axis] = stride;
    view_finish(out, a);
    return COLLET_OK;
}

collet_status collet_array_select(collet_context *cx, const collet_array *array, collet_array **out,
                                  int32_t axis, int64_t index)
{
    PROGRAM_CONTEXT(COLLET_INVALID, cx, array);
    COLLET_FLOATING_SCOPE;
    collet_array *a = NULL;
    collet_status status = view_along(cx, "select", out, array, &a, &axis);
    if (status != COLLET_OK)
        return status;
    int64_t extent = a->shape[axis];
    if (index < -extent || index >= extent)
        return VIEW_REFUSE(COLLET_SHAPE,
                           "select: element %" PRId64 " is outside of the %" PRId64
                           " elements of axis %" PRId32,
                           index, extent, axis);
    index += index < 0 ? extent : 0;
    a->offset += (uint64_t)(a->strides[axis] * index * (int64_t)collet_dtype_size(a->dtype));
    a->ndim--;
    for (int32_t i = axis; i < a->ndim; i++) {
        a->shape[i] = a->shape[i + 1];
        a->strides[i] = a->strides[i + 1];
    }
    view_finish(out, a);
    return COLLET_OK;
}

/* A view of the real (`part` 0) or imaginary parts. */
static collet_status part_view(collet_context *cx, const char *what, const collet_array *array,
                               collet_array **out, int part)
{
    collet_array *a = NULL;
    collet_status status = view_create(cx, what, out, array, &a);
    if (status != COLLET_OK)
        return status;
    int is_complex = a->dtype == COLLET_C64 || a->dtype == COLLET_C128;
    if (!is_complex && part)
        return VIEW_REFUSE(COLLET_DTYPE,
                           "%s: the numbers are real, %s: their imaginary parts are 0", what,
                           collet_dtype_name(array->dtype));
    if (is_complex) {
        a->dtype = a->dtype == COLLET_C64 ? COLLET_F32 : COLLET_F64;
        a->offset += part ? collet_dtype_size(a->dtype) : 0;
        for (int32_t i = 0; i < a->ndim; i++)
            a->strides[i] *= 2;
    }
    view_finish(out, a);
    return COLLET_OK;
}

collet_status collet_array_real(collet_context *cx, const collet_array *array, collet_array **out)
{
    PROGRAM_CONTEXT(COLLET_INVALID, cx, array);
    COLLET_FLOATING_SCOPE;
    return part_view(cx, "real", array, out, 0);
}

collet_status collet_array_imag(collet_context *cx, const collet_array *array, collet_array **out)
{
    PROGRAM_CONTEXT(COLLET_INVALID, cx, array);
    COLLET_FLOATING_SCOPE;
    return part_view(cx, "imag", array, out, 1);
}

static int is_integer(collet_dtype dtype)
{
    return dtype >= COLLET_I8 && dtype <= COLLET_U16;
}

collet_status collet_array_low(collet_context *cx, const collet_array *array, collet_array **out,
                               collet_dtype dtype)
{
    PROGRAM_CONTEXT(COLLET_INVALID, cx, array);
    COLLET_FLOATING_SCOPE;
    collet_array *a = NULL;
    collet_status status = view_create(cx, "low", out, array, &a);
    if (status != COLLET_OK)
        return status;
    size_t wide = collet_dtype_size(a->dtype), narrow = collet_dtype_size(dtype);
    if (!is_integer(a->dtype) || !is_integer(dtype) || narrow > wide)
        return VIEW_REFUSE(COLLET_DTYPE,
                           "low: %s has no low bits that are %s: both are integer dtypes, and the "
                           "view's is not wider",
                           collet_dtype_name(array->dtype), collet_dtype_name(dtype));
    a->dtype = dtype;
    for (int32_t i = 0; i < a->ndim; i++)
        a->strides[i] *= (int64_t)(wide / narrow);
    view_finish(out, a);
    return COLLET_OK;
}

collet_status collet_array_permute(collet_context *cx, const collet_array *array,
                                   collet_array **out, const int32_t *perm)
{
    PROGRAM_CONTEXT(COLLET_INVALID, cx, array);
    COLLET_FLOATING_SCOPE;
    collet_array *a = NULL;
    uint32_t seen = 0;
    collet_status status = view_create(cx, "permute", out, array, &a);
    if (status != COLLET_OK)
        return status;
    for (int32_t i = 0; i < a->ndim; i++) {
        int32_t axis = perm ? perm[i] : a->ndim - 1 - i;
        if (axis < 0 || axis >= a->ndim || seen >> axis & 1)
            return VIEW_REFUSE(COLLET_INVALID,
                               "permute: perm[%" PRId32 "] = %" PRId32 " is out of range or "
                               "repeated; perm must contain 0..%" PRId32 " once each",
                               i, axis, array->ndim - 1);
        seen |= 1u << axis;
        a->shape[i] = array->shape[axis];
        a->strides[i] = array->strides[axis];
    }
    view_finish(out, a);
    return COLLET_OK;
}

collet_status collet_array_diagonal(collet_context *cx, const collet_array *array,
                                    collet_array **out)
{
    PROGRAM_CONTEXT(COLLET_INVALID, cx, array);
    COLLET_FLOATING_SCOPE;
    collet_array *a = NULL;
    collet_status status = view_create(cx, "diagonal", out, array, &a);
    if (status != COLLET_OK)
        return status;
    if (a->ndim < 2)
        return VIEW_REFUSE(COLLET_INVALID, "diagonal: the array has %" PRId32 " axes; it needs two",
                           array->ndim);
    int32_t row = a->ndim - 2, column = a->ndim - 1;
    if (a->shape[column] < a->shape[row])
        a->shape[row] = a->shape[column];
    /* The sum can overflow only for axes with at most one element, whose strides are not used. */
    if (__builtin_add_overflow(a->strides[row], a->strides[column], &a->strides[row]))
        a->strides[row] = 0;
    a->ndim = column;
    view_finish(out, a);
    return COLLET_OK;
}

collet_status collet_array_windows(collet_context *cx, const collet_array *array,
                                   collet_array **out, int32_t axis, int64_t length)
{
    PROGRAM_CONTEXT(COLLET_INVALID, cx, array);
    COLLET_FLOATING_SCOPE;
    collet_array *a = NULL;
    collet_status status = view_along(cx, "windows", out, array, &a, &axis);
    if (status != COLLET_OK)
        return status;
    if (length < 1 || length > a->shape[axis])
        return VIEW_REFUSE(COLLET_SHAPE,
                           "windows: the length is %" PRId64 "; it must be 1 to the %" PRId64
                           " elements of axis %" PRId32,
                           length, array->shape[axis], axis);
    if (a->ndim == COLLET_MAX_DIMS)
        return VIEW_REFUSE(COLLET_SHAPE, "windows: the array already has %d axes, the maximum",
                           COLLET_MAX_DIMS);
    a->shape[a->ndim] = length;
    a->strides[a->ndim] = a->strides[axis];
    a->shape[axis] -= length - 1;
    a->ndim++;
    status = shape_check(a->dtype, a->ndim, a->shape, &a->size, context_error(cx));
    if (status != COLLET_OK) {
        programs_free(a);
        return status;
    }
    view_finish(out, a);
    return COLLET_OK;
}

/* Computes strides for the elements of `a` in another shape, by matching runs of old and new axes
 * with equal products of extents; returns 0 if the elements of a run have no common stride. */
static int reshaped_strides(const collet_array *a, int32_t ndim, const int64_t *shape,
                            int64_t *strides)
{
    int32_t old = 0, new = 0;
    while (new < ndim) {
        int32_t old_end = old, new_end = new + 1;
        int64_t old_product = 1, new_product = shape[new];
        if (shape[new] == 1) {
            strides[new ++] = 1;
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

/* A view of the array's storage with a new shape. The view has the strides of the array; the caller sets the new
 * strides. */
static collet_status shaped_view(collet_context *cx, const char *what, collet_array **out,
                                 const collet_array *array, int32_t ndim, const int64_t *shape,
                                 collet_array **view)
{
    collet_status status = view_create(cx, what, out, array, view);
    if (status != COLLET_OK)
        return status;
    status = shape_check(array->dtype, ndim, shape, &(*view)->size, context_error(cx));
    if (status != COLLET_OK) {
        programs_free(*view);
        return status;
    }
    (*view)->ndim = ndim;
    for (int32_t i = 0; i < ndim; i++)
        (*view)->shape[i] = shape[i];
    return COLLET_OK;
}

collet_status collet_array_reshape(collet_context *cx, const collet_array *array,
                                   collet_array **out, int32_t ndim, const int64_t *shape)
{
    PROGRAM_CONTEXT(COLLET_INVALID, cx, array);
    COLLET_FLOATING_SCOPE;
    collet_array *a = NULL;
    collet_status status = shaped_view(cx, "reshape", out, array, ndim, shape, &a);
    if (status != COLLET_OK)
        return status;
    if (a->size != array->size) {
        int64_t size = a->size;
        return VIEW_REFUSE(COLLET_SHAPE,
                           "reshape: the array has %" PRId64
                           " elements, but the new shape has %" PRId64,
                           array->size, size);
    }
    if (a->size && !reshaped_strides(array, ndim, shape, a->strides))
        return VIEW_REFUSE(COLLET_SHAPE,
                           "reshape: the array's strides do not allow this shape without a copy");
    view_finish(out, a);
    return COLLET_OK;
}

collet_status collet_array_broadcast(collet_context *cx, const collet_array *array,
                                     collet_array **out, int32_t ndim, const int64_t *shape)
{
    PROGRAM_CONTEXT(COLLET_INVALID, cx, array);
    COLLET_FLOATING_SCOPE;
    collet_array *a = NULL;
    collet_status status = shaped_view(cx, "broadcast", out, array, ndim, shape, &a);
    if (status != COLLET_OK)
        return status;
    int32_t lead = ndim - array->ndim;
    if (lead < 0)
        return VIEW_REFUSE(COLLET_SHAPE,
                           "broadcast: the shape has %" PRId32
                           " axes, fewer than the array's %" PRId32,
                           ndim, array->ndim);
    for (int32_t i = 0; i < ndim; i++) {
        int64_t have = i < lead ? 1 : array->shape[i - lead];
        if (have != 1 && have != shape[i])
            return VIEW_REFUSE(COLLET_SHAPE,
                               "broadcast: axis %" PRId32 " has %" PRId64 " elements and cannot be "
                               "repeated to %" PRId64,
                               i - lead, have, shape[i]);
        a->strides[i] = have == shape[i] && i >= lead ? array->strides[i - lead] : 0;
    }
    view_finish(out, a);
    return COLLET_OK;
}
