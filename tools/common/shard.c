/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/test_shard.c */
#include "shard.h"

#include "common/arguments.h"
#include "io/decimal.h"

#include <stdlib.h>
#include <string.h>

static collet_status read_variable(const char *name, int64_t *value, collet_error *err)
{
    const char *text = getenv(name);

    if (!text)
        return collet_fail(err, COLLET_INVALID,
                           "--shard slurm: %s is not set: run in a job array (sbatch "
                           "--array=1-N), or write --shard I/N",
                           name);
    if (!io_decimal_parse_integer(text, strlen(text), value) || *value < 0)
        return collet_fail(err, COLLET_INVALID, "--shard slurm: %s is '%s', not a whole number",
                           name, text);
    return COLLET_OK;
}

static collet_status read_slurm(tool_shard *shard, collet_error *err)
{
    static const char *const names[] = {"SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_MIN",
                                        "SLURM_ARRAY_TASK_MAX", "SLURM_ARRAY_TASK_STEP",
                                        "SLURM_ARRAY_TASK_COUNT"};
    int64_t values[5];

    for (int i = 0; i < 5; i++) {
        collet_status status = read_variable(names[i], &values[i], err);
        if (status != COLLET_OK)
            return status;
    }
    int64_t id = values[0], min = values[1], max = values[2], step = values[3], count = values[4];
    /* In a list of indices, for instance of repeated tasks, the place of a task is unknown. */
    if (step < 1 || id < min || id > max || (id - min) % step != 0 ||
        (max - min) / step + 1 != count || count > TOOL_SHARDS)
        return collet_fail(err, COLLET_INVALID,
                           "--shard slurm: the indices of the array are not MIN to MAX in equal "
                           "steps (task %lld of %lld to %lld, step %lld, %lld tasks): write "
                           "--array=1-N, and --shard I/N to repeat single shards",
                           (long long)id, (long long)min, (long long)max, (long long)step,
                           (long long)count);
    *shard = (tool_shard){(id - min) / step + 1, count};
    return COLLET_OK;
}

collet_status tool_shard_read(const char *text, tool_shard *shard, collet_error *err)
{
    const char *slash = strchr(text, '/');
    int64_t i, n;

    if (strcmp(text, "slurm") == 0)
        return read_slurm(shard, err);
    if (!slash || !io_decimal_parse_integer(text, (size_t)(slash - text), &i) ||
        !io_decimal_parse_integer(slash + 1, strlen(slash + 1), &n))
        return collet_fail(err, COLLET_INVALID,
                           "--shard: '%s' is neither I/N, as in 3/100, nor slurm", text);
    if (n < 1 || n > TOOL_SHARDS)
        return collet_fail(err, COLLET_INVALID, "--shard: '%s': there are 1 to %d shards", text,
                           TOOL_SHARDS);
    if (i < 1 || i > n)
        return collet_fail(err, COLLET_INVALID,
                           "--shard: '%s': shards of %lld are numbered from 1 to %lld", text,
                           (long long)n, (long long)n);
    *shard = (tool_shard){i, n};
    return COLLET_OK;
}

void tool_shard_parse(struct argp_state *state, const char *text, tool_shard *shard)
{
    collet_error err;

    if (tool_shard_read(text, shard, &err) != COLLET_OK)
        tool_error(state, "%s", err.text);
}
