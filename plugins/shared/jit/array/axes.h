/* SPDX-License-Identifier: Apache-2.0 */
/* axes.h - the axes of an output and its inputs, for traversing them together in any order: axes are merged as
 * far as possible and sorted so that the axis with the smallest stride is last. */
#pragma once

#include "shared/jit/runtime/launch.h"

/* Strides in elements, of either sign. The stride of the output comes first. 0: the operand is
 * broadcast along the axis. */
typedef struct jit_axis {
    int64_t extent;
    int64_t stride[1 + COLLET_PROGRAM_INPUTS];
} jit_axis;

/* The sum of |stride| of all inputs along the axis. */
uint64_t jit_axis_span(const jit_axis *axis, uint32_t inputs);

/* Drops axes of extent 1, sorts the others in descending order of the output's |stride| (or of the inputs'
 * span, if by_inputs), and merges axes that are contiguous in all operands. Returns the number of axes left. */
int32_t jit_axes_merge(jit_axis *axes, int32_t count, uint32_t inputs, int by_inputs);
