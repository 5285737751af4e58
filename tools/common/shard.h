/* SPDX-License-Identifier: Apache-2.0 */
/* shard.h - the option --shard: the part of the work that one process computes. */
#pragma once

#include <argp.h>
#include <collet/collet.h>
#include <stdint.h>

/* The largest number of shards. */
#define TOOL_SHARDS 1000000000

/* Shard `shard` of `n_shards`, from 1; 0 and 0: no shards. */
typedef struct tool_shard {
    int64_t shard, n_shards;
} tool_shard;

/* Reads "I/N", or "slurm": the shard then follows from SLURM_ARRAY_TASK_ID, _MIN, _MAX, _STEP and
 * _COUNT, which Slurm sets in the tasks of an array. Fails with INVALID for another text, or if such a variable is
 * missing or contradicts the others; the error's text begins with "--shard". */
collet_status tool_shard_read(const char *text, tool_shard *shard, collet_error *err);

/* Reads the text as tool_shard_read does; reports an error as an error of the command line. */
void tool_shard_parse(struct argp_state *state, const char *text, tool_shard *shard);

/* The shard computes items first .. end - 1 of `count` >= 0 items. Each item is in one shard, the
 * shards are in order, and their sizes differ by at most one item. A shard may be empty. */
static inline int64_t tool_shard_end(tool_shard part, int64_t count)
{
    /* count * shard / n_shards without overflow */
    return count / part.n_shards * part.shard + count % part.n_shards * part.shard / part.n_shards;
}

static inline int64_t tool_shard_first(tool_shard part, int64_t count)
{
    return tool_shard_end((tool_shard){part.shard - 1, part.n_shards}, count);
}
