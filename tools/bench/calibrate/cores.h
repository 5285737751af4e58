/* SPDX-License-Identifier: Apache-2.0 */
/* cores.h - which core type makes a backend's OpenBLAS the fastest here. */
#ifndef TOOLS_BENCH_CALIBRATE_CORES_H
#define TOOLS_BENCH_CALIBRATE_CORES_H

#include "calibrate.h"

/* Measures, for `seconds` in all, the core types that the processor supports, each in a process of its own.
 * If one is more than a tenth faster than the present one, prints the setting that chooses it, or adds
 * "cores" to `report`. 0 when out of memory. */
int32_t calibrate_cores(calibration_run *run, double seconds, cJSON *report);

#endif
