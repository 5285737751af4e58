/* SPDX-License-Identifier: Apache-2.0 */
/* ways.h - measures the rates of the ways in which a backend computes products, decompositions and transforms. */
#pragma once

#include "calibrate.h"

/* Measures until `end` (tool_now()), and adds "calibrated" to the documents of backends that have ways. 0
 * when out of memory. */
int32_t calibrate_ways(calibration_run *run, double end);

/* Prints the calls that a backend now computes in a different way, or adds them to the list "changes" of `report`. 0 when
 * out of memory. */
int32_t calibrate_ways_changes(const calibration_run *run, cJSON *report);
