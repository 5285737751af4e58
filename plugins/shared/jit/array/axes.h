/* SPDX-License-Identifier: Apache-2.0 */
/*
 * axes.h - the axes of two operands that are walked together, in any order: as few as there can be,
 * the one whose steps are shortest last.
 */
#ifndef COLLET_JIT_ARRAY_AXES_H
#define COLLET_JIT_ARRAY_AXES_H

#include "shared/jit/runtime/launch.h"

/* Strides in elements, of either sign; 0 in an operand that the axis does not move in. */
typedef struct jit_axis {
    int64_t extent;
    int64_t stride[2];
} jit_axis;

/*
 * Leaves out axes of one element, sorts the others by the size of stride[by], the largest first,
 * and joins those that follow one another without a gap in both operands. Returns how many are
 * left.
 */
int32_t jit_axes_merge(jit_axis *axes, int32_t count, int by);

/* The product of the extents. */
int64_t jit_axes_count(const jit_axis *axes, int32_t count);

#endif
