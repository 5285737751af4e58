/* SPDX-License-Identifier: Apache-2.0 */
/* number.h - numbers of any dtype in memory. */
#pragma once

#include <collet/collet.h>

/* Returns element `index` of an array in native byte order: F16, F32, F64, BF16 or integers. */
double ternary_number(collet_dtype dtype, const void *elements, int64_t index);
