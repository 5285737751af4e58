/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view.h - up to three operands of one shape and any strides, as kernels walk them: the `view` of
 * common.dev, laid out alike, and the groups that it takes.
 */
#ifndef COLLET_JIT_RUNTIME_VIEW_H
#define COLLET_JIT_RUNTIME_VIEW_H

#include "launch.h"

#define JIT_VIEW_OPERANDS 3

typedef struct jit_view {
    int64_t rows, columns, across;
    int64_t extent[COLLET_MAX_DIMS];
    int64_t stride[JIT_VIEW_OPERANDS][COLLET_MAX_DIMS];
    int64_t step[JIT_VIEW_OPERANDS];
    int32_t outer;
    int32_t column_bits;
} jit_view;

/*
 * The view of the call's first `count` (1 .. 3) operands; the first one's shape is the view's, and
 * the others have it too. Returns the groups of one element an item, 0 for an empty shape.
 */
uint64_t jit_view_of(jit_view *v, const jit_traits *t, const collet_kernel_call *call,
                     uint32_t count);

#endif
