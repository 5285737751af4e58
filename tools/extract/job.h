/* SPDX-License-Identifier: Apache-2.0 */
/* job.h - extractions by the ranks of an MPI job. */
#ifndef TOOLS_EXTRACT_JOB_H
#define TOOLS_EXTRACT_JOB_H

#include "options.h"

#include "common/ranks.h"

/*
 * Each rank computes shards into PATH.shards, in turn; with --resume, existing shards are kept. When all
 * ranks have their shards, rank 0 makes from them the same results as one process, and removes the directory. Returns
 * the exit status; a rank that fails ends the job.
 */
int extract_job(extract_options *options, tool_ranks *ranks);

#endif
