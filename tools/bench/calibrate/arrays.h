/* SPDX-License-Identifier: Apache-2.0 */
/* arrays.h - operands and samples for short measurements of many calls. */
#pragma once

#include "bench/ops/measure.h"
#include "bench/base/sampler.h"

/* calibrate_arrays_create allocates arrays with undefined values; calibrate_arrays_fill sets their values. */
collet_status calibrate_arrays_create(bench_arrays *a, collet_context *context,
                                      const bench_layout *layout);
collet_status calibrate_arrays_fill(const bench_arrays *a, collet_context *context,
                                    const bench_layout *layout);

/* Does both, like bench_arrays_create. The numbers of large operands repeat, so that filling takes less time. */
collet_status calibrate_arrays(bench_arrays *a, collet_context *context,
                               const bench_layout *layout);

/* Takes samples for `budget` seconds; lowers *seconds to their median if that is less. */
collet_status calibrate_turn(tool_sampler *sampler, double budget, double *seconds);
