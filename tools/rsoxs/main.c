/* SPDX-License-Identifier: Apache-2.0 */
/* collet-rsoxs: patterns of resonant soft X-ray scattering of voxel morphologies.
 * Tests: tests/tools/rsoxs/test_rsoxs.c, tests/tools/ranks.sh */
#include "common/interrupt.h"
#include "common/ranks.h"
#include "common/stats.h"
#include "films.h"
#include "options.h"
#include "scan.h"

#include <stdio.h>
#include <string.h>

static collet_status check(const rsoxs_options *options, collet_error *err)
{
    rsoxs_films films;

    if (options->shard.n_shards)
        return collet_fail(err, COLLET_INVALID,
                           "--shard: the ranks of an MPI job divide the work themselves; "
                           "COLLET_MPI=off lets each do its own");
    if (options->list && strcmp(options->list, "-") == 0)
        return collet_fail(err, COLLET_INVALID,
                           "--films: each rank of an MPI job reads the list: name a file, not -");
    collet_status status = rsoxs_films_open(&films, options, err);
    rsoxs_films_close(&films);
    return status;
}

/* Returns the options of one rank. A film that fails stops neither this rank's other films nor the films of
 * other ranks. */
static rsoxs_options part_of(const rsoxs_options *options, const tool_ranks *ranks)
{
    rsoxs_options part = *options;

    part.part = 1;
    part.shard = (tool_shard){ranks->rank + 1, ranks->size};
    part.place = ranks->place;
    part.quiet |= ranks->rank > 0;
    part.json = 0;
    if (part.threads == 0)
        part.threads = tool_ranks_threads(ranks);
    return part;
}

/* Merges the results of all ranks; with --plan prints the plan instead. */
static int merge(const rsoxs_options *options, const tool_ranks *ranks, int64_t threads,
                 double seconds)
{
    rsoxs_options all = *options;
    char text[400];

    if (options->plan)
        return rsoxs_scan(options);
    all.merge = ranks->size;
    all.job = 1;
    all.resume = 1;
    all.force = 0;
    if (!options->quiet && !options->json) {
        tool_ranks_describe(ranks, threads, text, sizeof text);
        printf("%s: shards in %.2f s\n", text, seconds);
    }
    return rsoxs_scan(&all);
}

static int end(const tool_ranks *ranks, const collet_error *err)
{
    int stopped = tool_interrupt_signal();

    return tool_ranks_fail(ranks, stopped && ranks->rank > 0 ? NULL : err->text,
                           stopped ? 128 + stopped : tool_exit_of_files(err->status));
}

/* Each rank computes its shard; when all ranks have finished, rank 0 merges the results. Returns the exit
 * status. */
static int rsoxs_job(const rsoxs_options *options, tool_ranks *ranks)
{
    const rsoxs_options part = part_of(options, ranks);
    int64_t result = 0, worst;
    double began = tool_now();
    collet_error err;

    tool_interrupt_install();
    if (ranks->rank == 0 && check(options, &err) != COLLET_OK)
        return end(ranks, &err);
    collet_status status = tool_ranks_agree(ranks, 0, &worst, &err);
    if (status == COLLET_OK && !options->plan)
        result = rsoxs_scan(&part);
    if (result > 128)
        return tool_ranks_fail(ranks, NULL, (int)result);
    if (result != 0)
        fprintf(stderr, "collet-rsoxs: rank %lld: patterns are missing, for the reasons above\n",
                (long long)ranks->rank);
    if (status == COLLET_OK)
        status = tool_ranks_agree(ranks, result, &worst, &err);
    result = 0;
    if (status == COLLET_OK && ranks->rank == 0) {
        result = merge(options, ranks, part.threads, tool_now() - began);
        if (result != 0 && worst == 0 && !options->plan)
            fprintf(stderr, "collet-rsoxs: " TOOL_RANKS_APART "\n");
        result = worst > result ? worst : result;
    }
    if (status == COLLET_OK)
        status = tool_ranks_agree(ranks, 0, &worst, &err);
    if (status != COLLET_OK)
        return end(ranks, &err);
    tool_ranks_close(ranks);
    return (int)result;
}

int main(int argc, char **argv)
{
    const tool_command *command = tool_command_find(rsoxs_commands, argc, argv);
    rsoxs_options options;
    tool_ranks ranks;
    int result = TOOL_EXIT_FAILURE;

    if (command)
        return tool_command_run(command, argc, argv);
    rsoxs_options_parse(argc, argv, &options);
    if (tool_ranks_open(&ranks, "collet-rsoxs", argc, argv))
        result = ranks.ranks ? rsoxs_job(&options, &ranks) : rsoxs_scan(&options);
    rsoxs_options_free(&options);
    return result;
}
