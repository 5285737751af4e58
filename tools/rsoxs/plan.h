/* SPDX-License-Identifier: Apache-2.0 */
/* plan.h - what a simulation prints of itself: its plan, and a summary. */
#ifndef TOOLS_RSOXS_PLAN_H
#define TOOLS_RSOXS_PLAN_H

#include "state.h"

/* Prints the work and memory needed. NO_MEMORY. */
collet_status rsoxs_print_plan(const rsoxs_run *run, collet_error *err);
void rsoxs_print_summary(const rsoxs_run *run, double seconds);

#endif
