/* SPDX-License-Identifier: Apache-2.0 */
/* plan.h - the plan and the summary that a simulation prints. */
#pragma once

#include "state.h"

#include <cjson/cJSON.h>

/* Prints the work and the memory that the work needs. If `json` is not NULL, adds both to `json` as
 * "largest" instead. NO_MEMORY. */
collet_status rsoxs_print_plan(const rsoxs_run *run, cJSON *json, collet_error *err);
void rsoxs_print_summary(const rsoxs_run *run, double seconds);

/* Prints "3 x 20 x 24 voxels of 2 nm (Z, Y, X), 2 materials, 40 energies (2 kept), ..."; if `plan` is
 * not NULL, also its angles. */
void rsoxs_print_work(const rsoxs_run *run, const collet_scatter_plan *plan);
/* Returns the shape, the energies and the directory as JSON. */
cJSON *rsoxs_run_json(const rsoxs_run *run);
/* Prints and frees the JSON value. */
void rsoxs_print_json(cJSON *root);
