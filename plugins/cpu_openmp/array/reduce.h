/* SPDX-License-Identifier: Apache-2.0 */
/* reduce.h - reductions of an array, or of elements that a function computes piece by piece. Both
 * give the same bits for the same elements. */
#pragma once

#include "reduce_source.h"

/* Whether all outputs of a call can be reduced in one run: the outputs need one dtype and equal strides. The call's
 * only input represents computed elements. */
int reduce_together(const collet_device *device, const collet_kernel_call *call);

/* Bytes of workspace that a call needs. */
int64_t reduce_workspace(const collet_device *device, const collet_kernel_call *call);

/* Runs call->op, whose workspace is in `call`. source NULL: the input is read from memory. Otherwise the source
 * computes the elements of the input, which must be f32, f64, c64 or c128 with the strides of C order. skip_nan: MIN
 * and MAX of f32 and f64 ignore NaN. */
void reduce_run(collet_device *device, const collet_kernel_call *call, const reduce_source *source,
                int skip_nan);
