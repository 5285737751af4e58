/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/test_ternary_pack.c, tests/tools/test_ternary_errors.c */
#include "commands.h"
#include "options.h"
#include "report.h"
#include "session.h"

#include "common/arguments.h"
#include "common/json_add.h"
#include "common/output.h"
#include "common/shares.h"

#include <stdio.h>
#include <stdlib.h>

#define DEVICES 64

typedef struct run_options {
    ternary_options common;
    const char *files[2]; /* model and X */
    const char *labels;
    uint32_t activations; /* COLLET_TERNARY_* */
    float threshold;      /* of COLLET_TERNARY_TERNARY */
    const char *devices;  /* NULL: the backend's */
    int plan;
} run_options;

typedef struct run_job {
    const run_options *options;
    ternary_session session;
    collet_ternary_network *network;
    collet_ternary_run_result result;
    collet_ternary_run_plan plan;
    collet_device_share shares[DEVICES];
    int64_t n_shares;
} run_job;

/* ---- Devices --------------------------------------------------------------------------------- */

/* Stores each device's share of the work in the job. The strings belong to the network. */
static void take_shares(run_job *job)
{
    for (; job->n_shares < DEVICES; job->n_shares++) {
        collet_device_share *share = &job->shares[job->n_shares];
        share->struct_size = sizeof *share;
        if (collet_ternary_network_share_at(job->network, share, (size_t)job->n_shares, NULL) !=
            COLLET_OK)
            break;
    }
}

/* Prints "opencl:0, opencl:1", or the backend that computed. */
static void print_devices(const run_job *job)
{
    for (const char *at = job->options->devices; at && *at; at++)
        printf("%c%s", *at, *at == ',' ? " " : "");
    if (!job->options->devices)
        printf("%s", collet_last_backend(job->session.context));
}

/* ---- Reports --------------------------------------------------------------------------------- */

static cJSON *make_json(const run_job *job)
{
    double vectors = (double)job->result.vectors, correct = (double)job->result.correct;
    cJSON *o = cJSON_CreateObject();

    for (int64_t i = 0; o && i < job->n_shares; i++) {
        cJSON *list = i ? cJSON_GetObjectItem(o, "shares") : cJSON_AddArrayToObject(o, "shares");
        tool_share_add(list, &job->shares[i], "vectors");
    }
    if (o && json_add_number(o, "vectors", vectors) &&
        json_add_number(o, "inputs", (double)collet_ternary_network_inputs(job->network)) &&
        json_add_number(o, "outputs", (double)collet_ternary_network_outputs(job->network)) &&
        json_add_number(o, "seconds", job->result.seconds) &&
        json_add_text(o, "backend",
                      job->options->devices ? job->options->devices
                                            : collet_last_backend(job->session.context)) &&
        (!job->options->labels || (json_add_number(o, "right", correct) &&
                                   json_add_number(o, "accuracy", correct / vectors))))
        return o;
    cJSON_Delete(o);
    return NULL;
}

static void print_text(const run_job *job)
{
    int64_t vectors = job->result.vectors, correct = job->result.correct;

    if (job->options->common.quiet)
        return;
    printf("%lld vectors of %lld numbers to %lld, by ", (long long)vectors,
           (long long)collet_ternary_network_inputs(job->network),
           (long long)collet_ternary_network_outputs(job->network));
    print_devices(job);
    printf(" in %.3f ms\n", 1e3 * job->result.seconds);
    for (int64_t i = 0; i < job->n_shares; i++)
        tool_share_print(&job->shares[i], "vectors");
    if (job->options->labels && vectors > 0)
        printf("accuracy %.2f %%: %lld of %lld\n", 100 * (double)correct / (double)vectors,
               (long long)correct, (long long)vectors);
}

static void print_plan(const run_job *job)
{
    char size[TOOL_SIZE_TEXT];

    printf("%lld vectors of %lld numbers to %lld, at most %lld at a time; arrays: %s on %s",
           (long long)job->plan.vectors, (long long)collet_ternary_network_inputs(job->network),
           (long long)collet_ternary_network_outputs(job->network), (long long)job->plan.at_a_time,
           tool_size_format(size, (double)job->plan.bytes), job->n_shares > 1 ? "each of " : "");
    print_devices(job);
    printf("\n");
    tool_shares_plan(job->shares, job->n_shares, "vectors", NULL);
}

static cJSON *plan_json(const run_job *job)
{
    cJSON *o = cJSON_CreateObject();

    if (o && json_add_number(o, "vectors", (double)job->plan.vectors) &&
        json_add_number(o, "at_a_time", (double)job->plan.at_a_time) &&
        json_add_number(o, "bytes", (double)job->plan.bytes)) {
        tool_shares_plan(job->shares, job->n_shares, "vectors", o);
        return o;
    }
    cJSON_Delete(o);
    return NULL;
}

static collet_status report(const run_job *job, collet_error *err)
{
    const run_options *options = job->options;

    if (options->common.json)
        return ternary_print_json(options->plan ? plan_json(job) : make_json(job), err);
    if (options->plan)
        print_plan(job);
    else
        print_text(job);
    return COLLET_OK;
}

static collet_status load(run_job *job, collet_error *err)
{
    const run_options *options = job->options;
    ternary_session *session = &job->session;
    collet_ternary_file *file = NULL;

    collet_status status = collet_ternary_file_open(&file, NULL, options->files[0], err);
    if (status == COLLET_OK)
        status = ternary_session_open(session, &options->common, "weights", err);
    if (status == COLLET_OK)
        status =
            collet_ternary_network_load(session->context, &job->network, file, options->activations,
                                        options->threshold, &session->monitor, err);
    tool_progress_end(&session->progress);
    collet_ternary_file_destroy(file);
    return status;
}

static collet_status compute(const run_options *options, collet_error *err)
{
    run_job job = {.options = options,
                   .result.struct_size = sizeof job.result,
                   .plan.struct_size = sizeof job.plan};
    collet_ternary_output *output = NULL;

    collet_status status = load(&job, err);
    const collet_devices devices = {.struct_size = sizeof devices, .choices = options->devices};
    const collet_ternary_run_files files = {.struct_size = sizeof files,
                                            .x = options->files[1],
                                            .y = options->common.output,
                                            .labels = options->labels,
                                            .model = options->files[0],
                                            .devices = options->devices ? &devices : NULL};
    tool_progress_begin(&job.session.progress, "collet-ternary", "vectors", stderr,
                        options->common.quiet);
    if (status == COLLET_OK && options->plan)
        status = collet_ternary_network_plan_files(job.session.context, job.network, &job.plan,
                                                   &files, err);
    else if (status == COLLET_OK)
        status = collet_ternary_network_run_files(job.session.context, job.network, &output,
                                                  &job.result, &files, &job.session.monitor, err);
    tool_progress_end(&job.session.progress);
    if (status == COLLET_OK)
        take_shares(&job);
    if (status == COLLET_OK && output)
        status = collet_ternary_output_publish(output, options->common.force, err);
    for (int64_t i = 0; i < job.n_shares && status == COLLET_OK; i++)
        if (job.shares[i].error)
            tool_share_warn(&job.shares[i]);
    if (status == COLLET_OK)
        status = report(&job, err);
    collet_ternary_output_destroy(output);
    collet_ternary_network_destroy(job.network);
    ternary_session_close(&job.session);
    return status;
}

enum { KEY_LABELS = TERNARY_KEY_OWN, KEY_DEVICES, KEY_PLAN };

static const struct argp_option argp_options[] = {
    TERNARY_OPTION_OUTPUT,
    TERNARY_OPTION_ACTIVATIONS,
    {"labels", KEY_LABELS, "L.npy", 0,
     "Print how often the index of the largest number of a row of Y equals its label in L", 5},
    {"devices", KEY_DEVICES, "NAME,...", 0,
     "Devices that share the vectors, such as cpu_openmp,opencl:0", 7},
    {"plan", KEY_PLAN, NULL, 0,
     "Print how many vectors a device takes at a time, its memory and its measured speed; compute "
     "nothing else",
     7},
    TERNARY_OPTIONS,
    TERNARY_OPTION_JSON,
    {0}};

static error_t parse(int key, char *text, struct argp_state *state)
{
    run_options *options = state->input;

    switch (key) {
    case TERNARY_KEY_ACTIVATIONS:
        ternary_parse_activations(state, text, &options->activations, &options->threshold);
        return 0;
    case KEY_LABELS:
        options->labels = text;
        return 0;
    case KEY_DEVICES:
        options->devices = tool_parse_name(state, "--devices", text);
        return 0;
    case KEY_PLAN:
        options->plan = 1;
        return 0;
    case ARGP_KEY_ARG:
        ternary_take_argument(state, text, options->files, 2);
        return 0;
    case ARGP_KEY_END:
        ternary_check_arguments(state, 2, "MODEL.t2 and X.npy are");
        if (options->common.backend && options->devices)
            tool_error(state, "--backend and --devices exclude each other");
        if (!options->common.output && !options->labels && !options->plan)
            tool_error(state, "-o FILE, --labels FILE or --plan is required");
        for (int i = 0; i < 2; i++)
            ternary_check_input(state, &options->common, options->files[i]);
        return 0;
    default:
        return ternary_parse_option(key, text, state, &options->common);
    }
}

static int run(const tool_command *self, int argc, char **argv)
{
    run_options options = {.activations = COLLET_TERNARY_AS_STORED};
    collet_error err;

    ternary_parse(self, argc, argv, &options, &options.common);
    return ternary_finish(compute(&options, &err), &err, options.common.output);
}

const tool_command ternary_run = {
    .name = "run",
    .summary = "compute Y from X with a network",
    .argp = {.options = argp_options,
             .parser = parse,
             .args_doc = "MODEL.t2 X.npy",
             .doc = "Computes Y from X with a network of packed layers.\v"
                    "Examples:\n"
                    "  collet-ternary run model.t2 X.npy -o Y.npy --backend cpu_openmp\n"
                    "  collet-ternary run model.t2 X.npy --labels L.npy\n"
                    "  collet-ternary run model.t2 X.npy -o Y.npy --devices cpu_openmp,opencl:0",
             .children = tool_short_help},
    .run = run,
};
