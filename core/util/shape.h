/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of shapes from callers. */
#pragma once

#include <collet/types.h>

/* The maximum size of an array in bytes, more than any memory. In an empty array the axes of extent 0 do not count, so
 * ops and kernels may compute products of any extents and small factors without further checks. */
#define SHAPE_BYTES_MAX ((int64_t)1 << 56)

/* Sets *size to the number of elements. DTYPE, INVALID (ndim, negative extents, no shape), OVERFLOW
 * (more than SHAPE_BYTES_MAX). */
collet_status shape_check(collet_dtype dtype, int32_t ndim, const int64_t *shape, int64_t *size,
                          collet_error *err);

/* Returns OVERFLOW and sets the text. */
collet_status shape_overflow(int32_t ndim, const int64_t *shape, collet_error *err);
