/* SPDX-License-Identifier: Apache-2.0 */
/* arrays.h - making, wrapping and reading arrays of up to two axes, one call each. */
#ifndef COLLET_ENGINES_TERNARY_ARRAYS_H
#define COLLET_ENGINES_TERNARY_ARRAYS_H

#include "ternary/call.h"

/* A new array of shape (rows, columns), or of (rows) where columns < 0, or without axes where both
 * are. */
collet_status ternary_array_new(ternary_call *call, collet_array **out, collet_dtype dtype,
                                int64_t rows, int64_t columns);
/* The same over memory of the caller, which must outlive it. */
collet_status ternary_array_over(ternary_call *call, collet_array **out, collet_dtype dtype,
                                 int64_t rows, int64_t columns, void *data);
/* Copies all elements to `target`. */
collet_status ternary_array_take(ternary_call *call, const collet_array *array, void *target);

/* collet_array_free of each of `count` arrays, which may be NULL. */
void ternary_arrays_free(collet_array *const *arrays, size_t count);

#endif
