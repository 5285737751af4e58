/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/test_ternary_pack.c, tests/tools/test_ternary_errors.c */
#include "commands.h"
#include "options.h"
#include "report.h"
#include "session.h"

#include "common/arguments.h"

#include <stdlib.h>

typedef struct info_options {
    ternary_options common;
    const char *file;
} info_options;

/* Describes matrices first .. last - 1. With a session, also counts the codes of all matrices that are not
 * numbers. */
static collet_status add_matrices(ternary_report *report, ternary_session *session,
                                  const collet_ternary_file *file, int64_t first, int64_t last,
                                  collet_error *err)
{
    collet_status status = COLLET_OK;

    for (int64_t i = first; i < last && status == COLLET_OK; i++) {
        ternary_report_layer *layer = &report->layers[report->count++];
        layer->matrix.struct_size = sizeof layer->matrix;
        layer->counts.struct_size = sizeof layer->counts;
        status = collet_ternary_file_matrix_at(file, &layer->matrix, (size_t)i, err);
        layer->counted = session && layer->matrix.content != COLLET_TERNARY_NUMBERS;
        /* If the matrix has no weights, the count fails with the reason. */
        if (status == COLLET_OK && layer->counted)
            status = collet_ternary_file_count(session->context, file, &layer->counts, (size_t)i,
                                               &session->monitor, err);
    }
    return status;
}

static collet_status describe(ternary_report *report, const info_options *options,
                              const collet_ternary_file *file, int64_t index, collet_error *err)
{
    int64_t first = index < 0 ? 0 : index, last = index < 0 ? report->info.count : index + 1;
    ternary_session session;

    collet_status status = ternary_session_open(&session, &options->common, "weights", err);
    if (status == COLLET_OK)
        status = add_matrices(report, &session, file, first, last, err);
    tool_progress_end(&session.progress);
    if (status == COLLET_OK)
        status = ternary_report_print(report, options->common.json, err);
    ternary_session_close(&session);
    return status;
}

static collet_status list_tensors(ternary_report *report, const collet_ternary_file *file, int json,
                                  collet_error *err)
{
    collet_status status = add_matrices(report, NULL, file, 0, report->info.count, err);

    return status == COLLET_OK ? ternary_report_tensors(report, json, err) : status;
}

static collet_status show(const info_options *options, collet_error *err)
{
    collet_ternary_file *file = NULL;
    ternary_report report = {0};
    int64_t index;

    collet_status status = collet_ternary_file_open(&file, &index, options->file, err);
    if (status == COLLET_OK)
        status = ternary_report_begin(&report, options->file, file, err);
    if (status == COLLET_OK)
        status = ternary_has_tensors(report.info.kind) && index < 0
                     ? list_tensors(&report, file, options->common.json, err)
                     : describe(&report, options, file, index, err);
    free(report.layers);
    collet_ternary_file_destroy(file);
    return status;
}

static error_t parse(int key, char *text, struct argp_state *state)
{
    info_options *options = state->input;

    switch (key) {
    case ARGP_KEY_ARG:
        ternary_take_argument(state, text, &options->file, 1);
        return 0;
    case ARGP_KEY_END:
        ternary_check_arguments(state, 1, "FILE is");
        return 0;
    default:
        return ternary_parse_option(key, text, state, &options->common);
    }
}

static int run(const tool_command *self, int argc, char **argv)
{
    info_options options = {.file = NULL};
    collet_error err;

    ternary_parse(self, argc, argv, &options, &options.common);
    return ternary_finish(show(&options, &err), &err, NULL);
}

static const struct argp_option argp_options[] = {TERNARY_OPTIONS, TERNARY_OPTION_JSON, {0}};

const tool_command ternary_info = {
    .name = "info",
    .summary = "show what is in a .t2, .npy, .gguf or .safetensors file",
    .argp = {.options = argp_options,
             .parser = parse,
             .args_doc = "FILE",
             .doc = "Prints what is in a .t2, .npy, .gguf or .safetensors file, or in a tensor, "
                    "FILE:TENSOR: shapes, bits a weight, shares of -1, 0 and 1, and the memory "
                    "that other types would "
                    "take.",
             .children = tool_short_help},
    .run = run,
};
