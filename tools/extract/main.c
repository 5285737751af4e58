/* SPDX-License-Identifier: Apache-2.0 */
/* collet-extract: rotational observables of every frame of a trajectory.
 * Tests: tests/tools/test_extract_options.c, tests/tools/test_extract_errors.c,
 * tests/tools/test_several_devices.c */
#include "common/json_add.h"
#include "common/output.h"
#include "common/progress.h"
#include "common/ranks.h"
#include "common/shares.h"
#include "common/stats.h"
#include "options.h"
#include "plot.h"
#include "report.h"
#include "run.h"

#include "common/interrupt.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A killed job loses the shards that it was computing. More shards mean a smaller loss, but each
 * shard opens the files again. With nojump a shard also reads all frames before its own. */
#define SHARDS_PER_RANK 4

typedef struct job {
    int merging; /* 1: the merge did not find a file of another rank */
    extract_options *options;
    tool_ranks *ranks;
    char *directory;
    int64_t n_shards;
    char device[600]; /* this rank's choice, perhaps a list; "": the choice of the options */
    char *before;     /* COLLET_BACKEND before this rank's choice replaced it */
    tool_progress progress;
} job;

/* ---- The directory ----------------------------------------------------------------------- */

/* Returns N = 100 for a name such as "003-of-100.npz"; 0 for other names. */
static int64_t shards_of_name(const char *name)
{
    int64_t shard, n;
    int length = 0;

    return sscanf(name, "%" SCNd64 "-of-%" SCNd64 ".npz%n", &shard, &n, &length) == 2 &&
                   length > 0 && name[length] == '\0' && shard > 0 && n > 0
               ? n
               : 0;
}

/* 1 if the file is a shard, the index of the frames or the lock of this index, or a temporary file that
 * a killed process left for one of them. */
static int is_of_job(const char *name)
{
    int64_t shard, n;
    int length = 0;

    name += name[0] == '.';
    return strncmp(name, "frames-", strlen("frames-")) == 0 ||
           (sscanf(name, "%" SCNd64 "-of-%" SCNd64 ".npz%n", &shard, &n, &length) == 2 &&
            length > 0);
}

/* Returns the number of shards into which an earlier job divided the work; 0 if there was no such
 * job. With `remove_files`, removes the files of that job and no others. */
static int64_t look_through(const char *directory, int remove_files)
{
    DIR *folder = opendir(directory);
    const struct dirent *entry;
    int64_t n = 0;

    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        int64_t found = shards_of_name(entry->d_name);

        n = found > n ? found : n;
        if (remove_files && is_of_job(entry->d_name))
            unlinkat(dirfd(folder), entry->d_name, 0);
    }
    if (folder != NULL)
        closedir(folder);
    return n;
}

/* Opens the inputs and checks the outputs, so that only one rank reports errors in them. */
static collet_status try_files(const job *j, collet_error *err)
{
    const extract_options *o = j->options;
    uint32_t flags = COLLET_TRAJECTORY_CHECK | (o->force ? COLLET_TRAJECTORY_OVERWRITE : 0) |
                     (o->directory ? COLLET_TRAJECTORY_DIRECTORY : 0);
    collet_trajectory *trajectory = NULL;
    collet_status status = collet_trajectory_create(&trajectory, &o->settings, err);

    if (status == COLLET_OK)
        status = collet_trajectory_write(trajectory, o->path, flags, err);
    if (status == COLLET_OK && o->plot != NULL)
        status = extract_plot_check(trajectory, o->plot, o->force, err);
    collet_trajectory_destroy(trajectory);
    return status;
}

/* Decides on the number of shards; rank 0 calls it before any rank works. */
static collet_status prepare(const job *j, int64_t *n_shards, collet_error *err)
{
    const extract_options *o = j->options;
    int64_t found = look_through(j->directory, 0);

    if (found > 0 && !o->resume && !o->force)
        return collet_fail(err, COLLET_IO,
                           "%s has shards of an earlier run: --resume keeps them, --force replaces "
                           "them",
                           j->directory);
    if (found == 0 && j->ranks->ranks == NULL)
        return collet_fail(err, COLLET_NOT_FOUND,
                           "--resume keeps shards, but %s has none; it needs --shard I/N",
                           j->directory);
    collet_status status = try_files(j, err);
    if (status != COLLET_OK)
        return status;
    if (found > 0 && o->resume) {
        *n_shards = found;
        return COLLET_OK;
    }
    look_through(j->directory, 1);
    *n_shards =
        j->ranks->size * (o->settings.pbc == COLLET_TRAJECTORY_PBC_NOJUMP ? 1 : SHARDS_PER_RANK);
    return COLLET_OK;
}

/* ---- Work -------------------------------------------------------------------------------- */

/* Chooses the device of this rank by the environment, not by an option: shards whose options name
 * different devices would not belong to the same work. */
static collet_status choose_device(job *j, collet_error *err)
{
    const char *choice = j->options->settings.backend, *before = getenv("COLLET_BACKEND");
    collet_status status = tool_ranks_backend(j->ranks, choice, j->device, sizeof j->device, err);

    if (j->device[0] != '\0')
        choice = j->device;
    if (status != COLLET_OK || choice == NULL)
        return status;
    j->before = before != NULL ? strdup(before) : NULL;
    if ((before != NULL && j->before == NULL) || setenv("COLLET_BACKEND", choice, 1) != 0)
        return collet_fail(err, COLLET_NO_MEMORY, "out of memory");
    return COLLET_OK;
}

static void restore_device(job *j)
{
    if (j->before != NULL)
        setenv("COLLET_BACKEND", j->before, 1);
    else if (j->device[0] != '\0' || j->options->settings.backend != NULL)
        unsetenv("COLLET_BACKEND");
}

static collet_status compute_shards(job *j, collet_error *err)
{
    extract_options part = *j->options;
    collet_status status = choose_device(j, err);

    part.settings.backend = NULL;
    part.plot = NULL;
    part.quiet |= j->ranks->rank != 0;
    part.resume = 1; /* the directory has only shards that must be kept */
    part.settings.shards = j->directory;
    part.settings.n_shards = j->n_shards;
    for (int64_t k = j->ranks->rank + 1; status == COLLET_OK && k <= j->n_shards;
         k += j->ranks->size) {
        collet_trajectory *trajectory = NULL;

        part.settings.shard = k;
        status = extract_run(&part, &j->progress, &trajectory, err);
        collet_trajectory_destroy(trajectory);
    }
    return status;
}

/* Makes the results from the shards; rank 0 calls it when all shards exist. */
static collet_status merge(job *j, int *result, double began, collet_error *err)
{
    collet_trajectory *trajectory = NULL;
    int device = (int)strcspn(j->device, ",");
    char text[400];

    restore_device(j);
    collet_status status = extract_merge(j->options, j->directory, &j->progress, &trajectory, err);
    j->options->seconds = tool_now() - began;
    if (status == COLLET_OK) {
        look_through(j->directory, 1);
        rmdir(j->directory);
        if (!j->options->quiet && !j->options->json) {
            tool_ranks_describe(j->ranks, j->options->settings.threads, text, sizeof text);
            printf("%s%s%.*s, %" PRId64 " shards\n", text, device > 0 ? ", this one on " : "",
                   device, j->device, j->n_shards);
        }
        *result = extract_report(trajectory, j->options);
    }
    collet_trajectory_destroy(trajectory);
    return status;
}

/* Does the work of this rank. Between the steps all ranks wait for each other. */
static collet_status work(job *j, int *result, collet_error *err)
{
    double began = tool_now();
    int64_t ignored, n_shards = 0;
    collet_status status = COLLET_OK;

    if (j->ranks->rank == 0)
        status = prepare(j, &n_shards, err);
    if (status == COLLET_OK)
        status = tool_ranks_agree(j->ranks, n_shards, &j->n_shards, err);
    if (status == COLLET_OK)
        status = compute_shards(j, err);
    if (status == COLLET_OK)
        status = tool_ranks_agree(j->ranks, 0, &ignored, err);
    if (status == COLLET_OK && j->ranks->rank == 0) {
        status = merge(j, result, began, err);
        j->merging = status != COLLET_OK && strstr(err->text, "missing") != NULL;
    }
    return status == COLLET_OK ? tool_ranks_agree(j->ranks, 0, &ignored, err) : status;
}

/* Ends the job after an error. A signal for the job reaches each rank, but one message is enough.
 * The message does not name --resume if the shards belong to other work (INVALID). */
static int end(const job *j, const collet_error *err)
{
    int stopped = err->status == COLLET_CANCELLED && tool_interrupt_signal() != 0;
    char text[sizeof err->text + 400];

    /* Before the merge all ranks have written their shards. */
    snprintf(text, sizeof text, "%s%s%s", stopped ? strsignal(tool_interrupt_signal()) : err->text,
             j->merging && j->ranks->size > 1 ? "; " TOOL_RANKS_APART : "",
             j->n_shards > 0 && err->status != COLLET_INVALID
                 ? "; complete shards are kept, --resume continues"
                 : "");
    return tool_ranks_fail(j->ranks, stopped && j->ranks->rank > 0 ? NULL : text,
                           stopped ? 128 + tool_interrupt_signal() : tool_exit_of(err->status));
}

/* Each rank computes shards into PATH.shards, in turn; with --resume, existing shards are kept. When all
 * ranks have their shards, rank 0 makes the same results from them as one process would, and removes the
 * directory. Returns the exit status; a rank that fails ends the job. */
static int extract_job(extract_options *options, tool_ranks *ranks)
{
    job j = {.options = options, .ranks = ranks};
    int result = TOOL_EXIT_OK;
    collet_error err;

    if (options->settings.threads == 0)
        options->settings.threads = tool_ranks_threads(ranks);
    if (asprintf(&j.directory, "%s.shards", options->path) < 0)
        return tool_ranks_fail(ranks, "out of memory", TOOL_EXIT_FAILURE);
    if (work(&j, &result, &err) != COLLET_OK)
        result = end(&j, &err);
    else
        tool_ranks_close(ranks);
    free(j.directory);
    free(j.before);
    return result;
}

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
