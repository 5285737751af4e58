/* SPDX-License-Identifier: Apache-2.0 */
/* Shapes of a call: their check against the patterns of the op, and functions for rules. */
#pragma once

#include "op.h"

/* Checks only shapes and parameters: repeated when an operand was replaced by a copy with other
 * strides. */
collet_status op_check_shapes(const op *o, op_shapes *views, const void *params,
                              op_scratch *scratch, collet_error *err);

/* Merges neighbouring axes that are contiguous to each other in every view (elementwise ops); any_order: first sorts
 * the axes by their order in the memory of the first operand. */
void op_merge_axes(op_shapes *views, uint32_t count, int any_order, op_scratch *scratch);

/* The shape of output k if it is to be inferred; else NULL. */
int64_t *op_open(op_shapes *views, uint32_t k);

/* States that output k has this shape: stores the shape if it is to be inferred, else compares the shapes. SHAPE: the
 * text has the shapes of output 0 and input 0, and `why`. */
collet_status op_expect(const op *o, op_shapes *views, uint32_t k, int32_t ndim,
                        const int64_t *shape, const char *why, collet_error *err);
collet_status op_shape_error(const op *o, const op_shapes *views, const char *why,
                             collet_error *err);
