/* SPDX-License-Identifier: Apache-2.0 */
/* job.h - a scan by the ranks of an MPI job. */
#ifndef TOOLS_RSOXS_JOB_H
#define TOOLS_RSOXS_JOB_H

#include "options.h"

#include "common/ranks.h"

/* Each rank does its shard; when all are through, rank 0 merges. Returns the exit status. */
int rsoxs_job(const rsoxs_options *options, tool_ranks *ranks);

#endif
