/* SPDX-License-Identifier: Apache-2.0 */
/* array_elementwise.h - rows of elements of elementwise functions. */
#pragma once

#include <collet/types.h>

/* Computes `n` elements of view 0 from the inputs, views 1 to 3; elements are step[view] bytes apart. `dtype` is the
 * dtype of the last input, because the first input of `where` is a bool. */
void elementwise_row(uint32_t op, collet_dtype dtype, char *const *at, const int64_t *step,
                     int64_t n);
