/* SPDX-License-Identifier: Apache-2.0 */
/* plan.h - the option --plan of collet-extract. */
#ifndef TOOLS_EXTRACT_PLAN_H
#define TOOLS_EXTRACT_PLAN_H

#include "options.h"

/* Prints the memory that the work needs, and the measured speed of its devices. Returns the exit status. */
int extract_plan(const extract_options *options);

#endif
