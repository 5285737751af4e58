/* SPDX-License-Identifier: Apache-2.0 */
/* collet-extract: rotational observables of every frame of a trajectory.
 * Tests: tests/tools/test_extract_options.c, tests/tools/test_extract_errors.c */
#include "job.h"
#include "plan.h"
#include "report.h"
#include "run.h"

#include "common/interrupt.h"

#include <stdio.h>
#include <string.h>

static int run_alone(const extract_options *options)
{
    collet_trajectory *trajectory = NULL;
    tool_progress progress;
    collet_error err;
    int result = TOOL_EXIT_FAILURE;

    if (extract_run(options, &progress, &trajectory, &err) == COLLET_OK) {
        result = extract_report(trajectory, options);
    } else if (err.status == COLLET_CANCELLED) {
        fprintf(stderr, "collet-extract: %s; nothing was written\n",
                strsignal(tool_interrupt_signal()));
        result = 128 + tool_interrupt_signal();
    } else {
        extract_complain(err.text);
        result = tool_exit_of(err.status);
    }
    collet_trajectory_destroy(trajectory);
    return result;
}

/* --resume without a launcher of MPI completes the work that a job has left. */
static int run(extract_options *options, int argc, char **argv)
{
    tool_ranks ranks;

    if (!tool_ranks_open(&ranks, "collet-extract", argc, argv))
        return TOOL_EXIT_FAILURE;
    tool_interrupt_install(); /* not earlier: a signal must end a rank that waits for others to join */
    if (ranks.ranks != NULL && (options->plan || options->settings.devices != NULL))
        return tool_ranks_fail(
            &ranks,
            ranks.rank > 0  ? NULL
            : options->plan ? "--plan: an MPI job has none: COLLET_MPI=off, or without a launcher"
                            : "--devices: the ranks of an MPI job divide the devices themselves: "
                              "--backend opencl:0,opencl:1",
            TOOL_EXIT_USAGE);
    if (options->plan)
        return extract_plan(options);
    if (ranks.ranks != NULL && options->shard.n_shards > 0)
        return tool_ranks_fail(&ranks,
                               ranks.rank > 0
                                   ? NULL
                                   : "--shard: the ranks of an MPI job divide the work themselves; "
                                     "COLLET_MPI=off lets each do its own",
                               TOOL_EXIT_USAGE);
    if (ranks.ranks != NULL || (options->resume && options->shard.n_shards == 0))
        return extract_job(options, &ranks);
    return run_alone(options);
}

int main(int argc, char **argv)
{
    extract_options options;
    collet_error err;
    int result = TOOL_EXIT_USAGE;

    extract_options_parse(argc, argv, &options);
    if (collet_trajectory_check_selection(options.settings.selection, &err) != COLLET_OK) {
        extract_complain(err.text);
    } else {
        result = run(&options, argc, argv);
    }
    extract_options_free(&options);
    return result;
}
