/* SPDX-License-Identifier: Apache-2.0 */
/* plan.h - the option --plan of collet-extract. */
#pragma once

#include "options.h"

/* Prints what the work needs, and the measured speed of its devices. Returns the exit status. */
int extract_plan(const extract_options *options);
