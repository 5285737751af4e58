/* SPDX-License-Identifier: Apache-2.0 */
/* The order of the axes of a call. */
#ifndef CORE_OP_ORDER_H
#define CORE_OP_ORDER_H

#include "op.h"

/* A reduction of the inputs over `axes`: sorts the axes of all operands as the inputs have them in memory, where
 * these agree. Returns `axes` of that order. */
uint32_t op_sort_reduced(op_shapes *views, uint32_t n_out, uint32_t n_in, uint32_t axes,
                         int keepdims, op_scratch *scratch);

#endif
