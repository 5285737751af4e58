/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of shapes from callers. */
#ifndef CORE_UTIL_SHAPE_H
#define CORE_UTIL_SHAPE_H

#include <collet/types.h>

/* Sets *size to the number of elements. DTYPE, INVALID (ndim, negative extents, no shape), OVERFLOW
 * (elements or bytes need more than 64 bits). */
collet_status shape_check(collet_dtype dtype, int32_t ndim, const int64_t *shape, int64_t *size,
                          collet_error *err);

/* Returns OVERFLOW and sets the text. */
collet_status shape_overflow(int32_t ndim, const int64_t *shape, collet_error *err);

#endif
