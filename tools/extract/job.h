/* SPDX-License-Identifier: Apache-2.0 */
/* job.h - an extraction by the ranks of an MPI job. */
#ifndef TOOLS_EXTRACT_JOB_H
#define TOOLS_EXTRACT_JOB_H

#include "options.h"

#include "common/ranks.h"

/*
 * Each rank computes shards into PATH.shards, in turn; those that are there already are kept with
 * --resume. When all ranks have theirs, rank 0 makes the results of them, as one process does, and
 * removes the directory. Returns the exit status; a rank that fails ends the job.
 */
int extract_job(extract_options *options, tool_ranks *ranks);

#endif
