/* SPDX-License-Identifier: Apache-2.0 */
/* modes.h - the modes of backend-bench, in the order of its help. */
#pragma once

#include "options.h"

#define BENCH_MODES(X) X(dispatch) X(bandwidth) X(calibrate)

#define BENCH_DECLARE(name) extern const bench_mode bench_mode_##name;
BENCH_MODES(BENCH_DECLARE)
#undef BENCH_DECLARE
