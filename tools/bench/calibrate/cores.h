/* SPDX-License-Identifier: Apache-2.0 */
/* cores.h - finds the core type with which a backend's OpenBLAS is fastest on this machine. */
#ifndef TOOLS_BENCH_CALIBRATE_CORES_H
#define TOOLS_BENCH_CALIBRATE_CORES_H

#include "calibrate.h"

/* Measures the core types that the processor supports, each in its own process, for `seconds` in total. If a core
 * type is more than 10 % faster than the current core type, prints the setting that chooses it, or adds
 * "cores" to `report`. 0 when out of memory. */
int32_t calibrate_cores(calibration_run *run, double seconds, cJSON *report);

#endif
