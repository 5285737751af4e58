/* SPDX-License-Identifier: Apache-2.0 */
/* job.h - scans by the ranks of an MPI job. */
#pragma once

#include "options.h"

#include "common/ranks.h"

/* Each rank computes its shard; when all ranks have finished, rank 0 merges the results. Returns the exit
 * status. */
int rsoxs_job(const rsoxs_options *options, tool_ranks *ranks);
