/* SPDX-License-Identifier: Apache-2.0 */
/*
 * axes.h - the axes of an output and its inputs traversed together, in any order: merged as far as
 * possible, the one with the smallest stride last.
 */
#ifndef PLUGINS_SHARED_JIT_ARRAY_AXES_H
#define PLUGINS_SHARED_JIT_ARRAY_AXES_H

#include "shared/jit/runtime/launch.h"

/* Strides in elements, of either sign, the output's first; 0 if the operand is broadcast along the
 * axis. */
typedef struct jit_axis {
    int64_t extent;
    int64_t stride[1 + COLLET_PROGRAM_INPUTS];
} jit_axis;

/* The sum of the inputs' |stride|. */
uint64_t jit_axis_span(const jit_axis *axis, uint32_t inputs);

/*
 * Drops axes of extent 1, sorts the others, descending, by the output's |stride| or the inputs' span,
 * and merges those that are contiguous in all operands. Returns the number left.
 */
int32_t jit_axes_merge(jit_axis *axes, int32_t count, uint32_t inputs, int by_inputs);

#endif
