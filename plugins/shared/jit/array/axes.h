/* SPDX-License-Identifier: Apache-2.0 */
/*
 * axes.h - the axes of two operands traversed together, in any order: merged as far as possible,
 * the one with the smallest stride last.
 */
#ifndef PLUGINS_SHARED_JIT_ARRAY_AXES_H
#define PLUGINS_SHARED_JIT_ARRAY_AXES_H

#include "shared/jit/runtime/launch.h"

/* Strides in elements, of either sign; 0 if the operand is broadcast along the axis. */
typedef struct jit_axis {
    int64_t extent;
    int64_t stride[2];
} jit_axis;

/*
 * Drops axes of extent 1, sorts the others by |stride[by]|, descending, and merges those that are
 * contiguous in both operands. Returns the number left.
 */
int32_t jit_axes_merge(jit_axis *axes, int32_t count, int by);

#endif
