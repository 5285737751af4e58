/* SPDX-License-Identifier: Apache-2.0 */
/* run.h - the work of collet-extract: a run, a shard of a run, or the results of all shards. */
#pragma once

#include "common/progress.h"
#include "options.h"

/*
 * Computes and writes the requested results: all rows, or the shard of options->settings. The
 * trajectory is created even if writing fails, and logs to *progress until the caller destroys it.
 * Several runs may follow one another. */
collet_status extract_run(const extract_options *options, tool_progress *progress,
                          collet_trajectory **trajectory, collet_error *err);

/* Writes the output of the options from the shards in the directory `shards`. The trajectory is
 * created as in extract_run. */
collet_status extract_merge(const extract_options *options, const char *shards,
                            tool_progress *progress, collet_trajectory **trajectory,
                            collet_error *err);
