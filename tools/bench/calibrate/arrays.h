/* SPDX-License-Identifier: Apache-2.0 */
/* arrays.h - operands and samples of short measurements of many calls. */
#ifndef TOOLS_BENCH_CALIBRATE_ARRAYS_H
#define TOOLS_BENCH_CALIBRATE_ARRAYS_H

#include "bench/ops/measure.h"
#include "bench/base/sampler.h"

/* Arrays of undefined values, with which nothing is computed; and their values. */
collet_status calibrate_arrays_create(bench_arrays *a, collet_context *context,
                                      const bench_layout *layout);
collet_status calibrate_arrays_fill(const bench_arrays *a, collet_context *context,
                                    const bench_layout *layout);

/* Both, like bench_arrays_create, but numbers of large operands repeat, which takes less time. */
collet_status calibrate_arrays(bench_arrays *a, collet_context *context,
                               const bench_layout *layout);

/* Samples for `budget` seconds and lowers *seconds to their median. */
collet_status calibrate_turn(tool_sampler *sampler, double budget, double *seconds);

#endif
