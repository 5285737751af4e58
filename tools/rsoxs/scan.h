/* SPDX-License-Identifier: Apache-2.0 */
/* scan.h - all films of a command line, in turn, with one runtime. */
#pragma once

#include "options.h"

/* Computes, plans or merges, and prints a summary. A film that fails does not stop the other films.
 * Returns the exit status. */
int rsoxs_scan(const rsoxs_options *options);
