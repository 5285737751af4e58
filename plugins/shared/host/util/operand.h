/* SPDX-License-Identifier: Apache-2.0 */
/* operand.h - the operands of a call, for every plugin of this tree. */
#pragma once

#include <collet/plugin.h>

#include "convert.h"

/* Operand i of a call, outputs first. */
static inline const collet_operand *operand_of(const collet_kernel_call *call, uint32_t i)
{
    const char *first = (const char *)call->operands;
    return (const collet_operand *)(const void *)(first + (uint64_t)i * call->operand_size);
}

static inline int operand_present(const collet_operand *o)
{
    return o->dtype != COLLET_DTYPE_NONE;
}

/* Whether the operand has no elements. An absent operand has none. */
static inline int operand_is_empty(const collet_operand *o)
{
    int empty = !operand_present(o);
    for (int32_t i = 0; !empty && i < o->ndim; i++)
        empty = o->shape[i] == 0;
    return empty;
}

/* The extent of an axis, counted from the last axis (back = 0). */
static inline int64_t operand_extent(const collet_operand *o, int32_t back)
{
    return o->shape[o->ndim - 1 - back];
}

/* Number of elements of a present operand. */
static inline int64_t operand_count(const collet_operand *o)
{
    int64_t count = 1;
    for (int32_t i = 0; i < o->ndim; i++)
        count *= o->shape[i];
    return count;
}

/* The dtype of the real and the imaginary part of a complex number; any other dtype itself. */
static inline collet_dtype part_of(collet_dtype dtype)
{
    return dtype == COLLET_C64 ? COLLET_F32 : dtype == COLLET_C128 ? COLLET_F64 : dtype;
}
