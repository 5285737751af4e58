/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_array.c */
#include "shape.h"

#include <inttypes.h>

#include <collet/collet.h>

#include "text.h"

collet_status shape_overflow(int32_t ndim, const int64_t *shape, collet_error *err)
{
    text_buffer t;
    text_clear(&t);
    text_add_shape(&t, ndim, shape);
    return collet_fail(err, COLLET_OVERFLOW,
                       "an array of %s elements does not fit in 64 bits with room to compute: an "
                       "array has at most 2^56 bytes, not counting axes of no element",
                       t.bytes);
}

collet_status shape_check(collet_dtype dtype, int32_t ndim, const int64_t *shape, int64_t *size,
                          collet_error *err)
{
    int empty = 0;
    int64_t bytes = (int64_t)collet_dtype_size(dtype);
    if (!collet_dtype_size(dtype))
        return collet_fail(err, COLLET_DTYPE, "%" PRId32 " is not a dtype", dtype);
    if (ndim < 0 || ndim > COLLET_MAX_DIMS)
        return collet_fail(err, COLLET_INVALID, "an array can have 0 to %d axes, not %" PRId32,
                           COLLET_MAX_DIMS, ndim);
    if (ndim && !shape)
        return collet_fail(err, COLLET_INVALID, "shape is NULL but ndim is %" PRId32, ndim);
    for (int32_t i = 0; i < ndim; i++) {
        if (shape[i] < 0)
            return collet_fail(err, COLLET_INVALID,
                               "the extent of axis %" PRId32 " is %" PRId64
                               "; it must not be negative",
                               i, shape[i]);
        empty |= shape[i] == 0;
    }
    for (int32_t i = 0; i < ndim; i++)
        if (shape[i] &&
            (__builtin_mul_overflow(bytes, shape[i], &bytes) || bytes > SHAPE_BYTES_MAX))
            return shape_overflow(ndim, shape, err);
    *size = empty ? 0 : bytes / (int64_t)collet_dtype_size(dtype);
    return COLLET_OK;
}
