/* SPDX-License-Identifier: Apache-2.0 */
/* view.h - views: operands of the same shape with any strides, in the order in which kernels traverse them, and the
 * number of groups of such a kernel. */
#pragma once

#include <stddef.h>

#include "launch.h"
#include "types.h"

#define VIEW_OPERANDS COLLET_MAX_OPERANDS
#include "view_params.h"

/* Makes the view of the call's first `count` operands; all operands that are present have the
 * same shape. Returns the number of groups if each item computes one element; 0 for an empty
 * shape. */
uint64_t jit_view_of(jit_view *v, const jit_traits *t, const collet_kernel_call *call,
                     uint32_t count);
static inline uint32_t jit_view_bytes(uint32_t operands)
{
    return (uint32_t)(offsetof(jit_view, operand) + operands * sizeof(view_operand));
}

/* Passes a view to a kernel. `operands` must be the kernel's VIEW_OPERANDS: 3, unless an option defines it. */
void jit_pass_view(jit_launch *l, const jit_view *v, uint32_t operands);
