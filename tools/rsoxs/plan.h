/* SPDX-License-Identifier: Apache-2.0 */
/* plan.h - what a simulation prints of itself: its plan, and a summary. */
#ifndef TOOLS_RSOXS_PLAN_H
#define TOOLS_RSOXS_PLAN_H

#include "state.h"

#include <cjson/cJSON.h>

/* Prints the work and memory needed, or adds them to `json` (NULL: prints) as "largest".
 * NO_MEMORY. */
collet_status rsoxs_print_plan(const rsoxs_run *run, cJSON *json, collet_error *err);
void rsoxs_print_summary(const rsoxs_run *run, double seconds);

/* "3 x 20 x 24 voxels of 2 nm (Z, Y, X), 2 materials, 40 energies (2 kept), ..."; `plan` has the
 * angles, or is NULL. */
void rsoxs_print_work(const rsoxs_run *run, const collet_scatter_plan *plan);
/* Shape, energies and directory. */
cJSON *rsoxs_run_json(const rsoxs_run *run);
/* Prints and frees. */
void rsoxs_print_json(cJSON *root);

#endif
