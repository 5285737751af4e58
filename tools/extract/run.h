/* SPDX-License-Identifier: Apache-2.0 */
/* run.h - the work of collet-extract: a run, a shard of it, or the results of all shards. */
#ifndef TOOLS_EXTRACT_RUN_H
#define TOOLS_EXTRACT_RUN_H

#include "common/progress.h"
#include "options.h"

/*
 * Computes what the options say, and writes it: all rows, or the shard of options->settings. The
 * trajectory is created also where writing fails, and logs to *progress until the caller destroys it;
 * several may be run one after the other.
 */
collet_status extract_run(const extract_options *options, tool_progress *progress,
                          collet_trajectory **trajectory, collet_error *err);

/* Writes the output of the options from the shards in the directory `shards`; likewise. */
collet_status extract_merge(const extract_options *options, const char *shards,
                            tool_progress *progress, collet_trajectory **trajectory,
                            collet_error *err);

#endif
