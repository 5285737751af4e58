/* SPDX-License-Identifier: Apache-2.0 */
/* report.h - the messages and the summary of collet-extract. */
#pragma once

#include "options.h"

#include <collet/trajectory.h>

/* Prints "collet-extract: " and the text to standard error. */
void extract_complain(const char *text);

/* After a successful write, prints warnings to standard error, and the summary or the meta file to
 * standard output. Returns the exit status. */
int extract_report(const collet_trajectory *trajectory, const extract_options *options);
