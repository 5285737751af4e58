/* SPDX-License-Identifier: Apache-2.0 */
/* Runs programs as single ops, for backends without `evaluate`. */
#pragma once

#include <collet/collet.h>

/* Extends `shape` by broadcasting it with a second shape; 0: the shapes do not fit. */
int steps_broadcast(int64_t shape[COLLET_MAX_DIMS], int32_t *ndim, const int64_t *other,
                    int32_t other_ndim);

/* Copies `from` to a new array of this shape, to which it is broadcast. */
collet_status steps_expand(collet_context *cx, collet_array **out, const collet_array *from,
                           int32_t ndim, const int64_t *shape);

/* Reduces over the axes of `p`. */
collet_status steps_reduce(collet_context *cx, uint32_t id, collet_array *out,
                           const collet_array *in, const collet_evaluate_params *p);

/* Does what the op `evaluate` does with these operands, whose shapes must fit. */
collet_status steps_run(collet_context *cx, collet_array *const *outs,
                        const collet_array *const *ins, const collet_evaluate_params *p);
