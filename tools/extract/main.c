/* SPDX-License-Identifier: Apache-2.0 */
/* collet-extract: rotational observables of every frame of a trajectory.
 * Tests: tests/tools/test_extract_options.c, tests/tools/test_extract_errors.c,
 * tests/tools/test_several_devices.c */
#include "common/json_add.h"
#include "common/output.h"
#include "common/progress.h"
#include "common/shares.h"
#include "job.h"
#include "options.h"
#include "report.h"
#include "run.h"

#include "common/interrupt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEVICES 64

/* The measurements of the devices; the names belong to the trajectory. */
typedef struct measured {
    collet_device_share shares[DEVICES];
    int64_t n;
} measured;

static int print_json(const collet_trajectory_plan *plan, const measured *m)
{
    cJSON *root = cJSON_CreateObject();
    int done = root && json_add_number(root, "batch_frames", (double)plan->batch_frames) &&
               json_add_number(root, "batches", (double)plan->batches) &&
               json_add_number(root, "host_bytes", (double)plan->host_bytes) &&
               json_add_number(root, "bytes", (double)plan->bytes);

    if (done)
        tool_shares_plan(m->shares, m->n, "frames", root);
    done = done && tool_print_json(root);
    cJSON_Delete(root);
    return done;
}

static int print_text(const collet_trajectory_plan *plan, const measured *m)
{
    char host[TOOL_SIZE_TEXT], device[TOOL_SIZE_TEXT];

    printf("%lld frame%s at a time, %lld such batches in memory, %s; %s on %s\n",
           (long long)plan->batch_frames, tool_plural(plan->batch_frames), (long long)plan->batches,
           tool_size_format(host, (double)plan->host_bytes),
           tool_size_format(device, (double)plan->bytes), m->n > 1 ? "each device" : "the device");
    tool_shares_plan(m->shares, m->n, "frames", NULL);
    return 1;
}

/* Prints what the work needs, and the measured speed of its devices. Returns the exit status. */
static int extract_plan(const extract_options *options)
{
    collet_trajectory_plan plan = {.struct_size = sizeof plan};
    collet_trajectory_options settings = options->settings;
    collet_trajectory *trajectory = NULL;
    tool_progress progress;
    measured m = {.n = 0};
    collet_error err;

    tool_progress_begin(&progress, "collet-extract", "frames", stderr, options->quiet);
    settings.log = tool_log;
    settings.log_user = &progress;
    collet_status status = collet_trajectory_create(&trajectory, &settings, &err);
    if (status == COLLET_OK)
        status = collet_trajectory_plan_work(trajectory, &plan, &err);
    tool_progress_end(&progress);
    for (; status == COLLET_OK && m.n < DEVICES; m.n++) {
        m.shares[m.n].struct_size = sizeof *m.shares;
        if (collet_trajectory_share_at(trajectory, &m.shares[m.n], (size_t)m.n, NULL) != COLLET_OK)
            break;
    }
    int exit_status = status != COLLET_OK ? tool_exit_of(status) : TOOL_EXIT_FAILURE;
    if (status != COLLET_OK)
        extract_complain(err.text);
    else if (!(options->json ? print_json(&plan, &m) : print_text(&plan, &m)))
        extract_complain("out of memory for the plan");
    else if (tool_flush("collet-extract", NULL))
        exit_status = TOOL_EXIT_OK;
    collet_trajectory_destroy(trajectory);
    return exit_status;
}

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
