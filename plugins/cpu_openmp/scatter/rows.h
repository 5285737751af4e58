/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <collet/plugin.h>

/* The number of rows along the last axis that together have about `count` elements. */
static inline int64_t rows_of(const collet_operand *o, int64_t count)
{
    return 1 + count / (o->shape[o->ndim - 1] + 1);
}
