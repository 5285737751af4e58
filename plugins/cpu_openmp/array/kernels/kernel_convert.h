/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_convert.h - the conversions that have a vector loop. Other conversions use shared/host/util/convert.h, which
 * specifies all conversions.
 */
#pragma once

#include <collet/types.h>

/* n adjacent elements; the blocks do not overlap. */
typedef void (*convert_run)(void *out, const void *in, int64_t n);

typedef struct convert_kernels {
    convert_run run[COLLET_DTYPE_COUNT][COLLET_DTYPE_COUNT]; /* [to][from]; NULL: none */
} convert_kernels;
