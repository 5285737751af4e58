/* SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"
#include "report.h"
#include "session.h"

#include "common/json_add.h"

#include <stdio.h>

typedef struct run_job {
    const ternary_options *options;
    ternary_session session;
    collet_ternary_network *network;
    collet_ternary_run_result result;
} run_job;

static cJSON *make_json(const run_job *job)
{
    double vectors = (double)job->result.vectors, correct = (double)job->result.correct;
    cJSON *o = cJSON_CreateObject();

    if (o && json_add_number(o, "vectors", vectors) &&
        json_add_number(o, "inputs", (double)collet_ternary_network_inputs(job->network)) &&
        json_add_number(o, "outputs", (double)collet_ternary_network_outputs(job->network)) &&
        json_add_number(o, "seconds", job->result.seconds) &&
        json_add_text(o, "backend", collet_last_backend(job->session.context)) &&
        (!job->options->labels || (json_add_number(o, "right", correct) &&
                                   json_add_number(o, "accuracy", correct / vectors))))
        return o;
    cJSON_Delete(o);
    return NULL;
}

static void print_text(const run_job *job)
{
    int64_t vectors = job->result.vectors, correct = job->result.correct;

    if (job->options->quiet)
        return;
    printf("%lld vectors of %lld numbers to %lld, by %s in %.3f ms\n", (long long)vectors,
           (long long)collet_ternary_network_inputs(job->network),
           (long long)collet_ternary_network_outputs(job->network),
           collet_last_backend(job->session.context), 1e3 * job->result.seconds);
    if (job->options->labels && vectors > 0)
        printf("accuracy %.2f %%: %lld of %lld\n", 100 * (double)correct / (double)vectors,
               (long long)correct, (long long)vectors);
}

static collet_status load(run_job *job, collet_error *err)
{
    const ternary_layer_options *requested = &job->options->defaults;
    ternary_session *session = &job->session;
    collet_ternary_file *file = NULL;

    collet_status status = collet_ternary_file_open(&file, NULL, job->options->arguments[0], err);
    if (status == COLLET_OK)
        status = ternary_session_open(session, job->options, "weights", err);
    if (status == COLLET_OK)
        status = collet_ternary_network_load(
            session->context, &job->network, file, requested->activations,
            requested->activations_threshold, &session->monitor, err);
    tool_progress_end(&session->progress);
    collet_ternary_file_close(file);
    return status;
}

collet_status ternary_run(const ternary_options *options, collet_error *err)
{
    run_job job = {.options = options, .result.struct_size = sizeof job.result};
    const collet_ternary_run_files files = {.struct_size = sizeof files,
                                            .x = options->arguments[1],
                                            .y = options->output,
                                            .labels = options->labels,
                                            .model = options->arguments[0]};
    collet_ternary_output *output = NULL;

    collet_status status = load(&job, err);
    tool_progress_begin(&job.session.progress, "collet-ternary", stderr, options->quiet);
    job.session.progress.unit = "vectors";
    if (status == COLLET_OK)
        status = collet_ternary_network_run_files(job.session.context, job.network, &files, &output,
                                                  &job.result, &job.session.monitor, err);
    tool_progress_end(&job.session.progress);
    if (status == COLLET_OK && output)
        status = collet_ternary_output_publish(output, err);
    if (status == COLLET_OK && options->json)
        status = ternary_print_json(make_json(&job), err);
    else if (status == COLLET_OK)
        print_text(&job);
    collet_ternary_output_free(output);
    collet_ternary_network_free(job.network);
    ternary_session_close(&job.session);
    return status;
}
