/* SPDX-License-Identifier: Apache-2.0 */
/* ways.h - rates of the ways in which a backend computes products and decompositions. */
#ifndef TOOLS_BENCH_CALIBRATE_WAYS_H
#define TOOLS_BENCH_CALIBRATE_WAYS_H

#include "calibrate.h"

/* Measures until `end` (tool_now()), and adds "calibrated" to the documents of backends that have ways. 0
 * when out of memory. */
int32_t calibrate_ways(calibration_run *run, double end);

/* Prints, or adds to the list "changes" of `report`, where another way than before computes a call. 0 when out
 * of memory. */
int32_t calibrate_ways_changes(const calibration_run *run, cJSON *report);

#endif
