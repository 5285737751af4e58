/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view.h - up to three operands of one shape and any strides, as kernels traverse them, and the
 * number of groups.
 */
#ifndef PLUGINS_SHARED_JIT_RUNTIME_VIEW_H
#define PLUGINS_SHARED_JIT_RUNTIME_VIEW_H

#include "launch.h"
#include "types.h"

#include "view_params.h"

/*
 * The view of the call's first `count` (1 .. 3) operands; all have the same shape. Returns the
 * groups at one element per item, 0 for an empty shape.
 */
uint64_t jit_view_of(jit_view *v, const jit_traits *t, const collet_kernel_call *call,
                     uint32_t count);

#endif
