/* SPDX-License-Identifier: Apache-2.0 */
/* The order of the axes of a call. */
#pragma once

#include "op.h"

/* For a reduction of the inputs over `axes`: sorts the axes of all operands in the order that the inputs have in
 * memory, if all inputs have the same order. Returns `axes` for the new order. */
uint32_t op_sort_reduced(op_shapes *views, uint32_t n_out, uint32_t n_in, uint32_t axes,
                         int keepdims, op_scratch *scratch);
