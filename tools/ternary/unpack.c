/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/test_ternary_pack.c, tests/tools/test_ternary_errors.c */
#include "commands.h"
#include "options.h"
#include "session.h"

#include "common/arguments.h"
#include "common/output.h"

#include <stdio.h>

typedef struct unpack_options {
    ternary_options common;
    const char *file;
    int64_t layer;    /* -1: not given */
    uint32_t content; /* COLLET_TERNARY_WRITE_* */
} unpack_options;

/* Indexed by COLLET_TERNARY_WRITE_*. */
static const char *const words[] = {"codes", "values", "bytes"};

/* Finds the matrix that the name or --layer selects, or the only matrix of the file. */
static collet_status choose(const unpack_options *options, const collet_ternary_file *file,
                            int64_t *index, collet_error *err)
{
    const char *name = options->file;
    collet_ternary_file_info info = {.struct_size = sizeof info};

    collet_ternary_file_get_info(file, &info);
    if (info.kind != COLLET_TERNARY_FILE_T2 && options->layer > 0)
        return collet_fail(err, COLLET_INVALID, "%s is one layer; --layer is only for .t2 files",
                           name);
    if (ternary_has_tensors(info.kind) && *index < 0)
        return collet_fail(err, COLLET_INVALID,
                           "%s: no tensor is named; write %s:TENSOR; 'collet-ternary info "
                           "%s' lists them",
                           name, name, name);
    if (info.kind == COLLET_TERNARY_FILE_T2 && info.count > 1 && options->layer < 0)
        return collet_fail(err, COLLET_INVALID, "%s has %lld layers; choose one with --layer", name,
                           (long long)info.count);
    if (*index < 0)
        *index = options->layer < 0 ? 0 : options->layer;
    return COLLET_OK;
}

static void summarise(const unpack_options *options, const collet_ternary_file *file, int64_t index)
{
    collet_ternary_matrix m = {.struct_size = sizeof m};

    if (collet_ternary_file_matrix_at(file, &m, (size_t)index, NULL) == COLLET_OK)
        printf("%s: %lld x %lld %s\n", tool_shown(options->common.output), (long long)m.rows,
               (long long)(options->content == COLLET_TERNARY_WRITE_BYTES ? (int64_t)m.row_bytes
                                                                          : m.columns),
               words[options->content]);
}

static collet_status unpack(const unpack_options *options, collet_error *err)
{
    collet_ternary_file *file = NULL;
    collet_ternary_output *output = NULL;
    ternary_session session = {0};
    int64_t index;

    collet_status status = collet_ternary_file_open(&file, &index, options->file, err);
    if (status == COLLET_OK && choose(options, file, &index, err) != COLLET_OK)
        ternary_refuse(err);
    if (status == COLLET_OK)
        status = ternary_session_open(&session, &options->common, "weights", err);
    if (status == COLLET_OK)
        status = collet_ternary_file_unpack(session.context, file, &output, options->common.output,
                                            (size_t)index, options->content, &session.monitor, err);
    tool_progress_end(&session.progress);
    if (status == COLLET_OK)
        status = collet_ternary_output_publish(output, options->common.force, err);
    if (status == COLLET_OK && !options->common.quiet)
        summarise(options, file, index);
    collet_ternary_output_destroy(output);
    collet_ternary_file_destroy(file);
    ternary_session_close(&session);
    return status;
}

enum { KEY_LAYER = TERNARY_KEY_OWN, KEY_VALUES, KEY_BYTES };

static const struct argp_option argp_options[] = {
    TERNARY_OPTION_OUTPUT,
    {"layer", KEY_LAYER, "N", 0, "The layer, counted from 0", 4},
    {"values", KEY_VALUES, NULL, 0, "Write f4 numbers, codes times scale, instead of codes", 4},
    {"bytes", KEY_BYTES, NULL, 0, "Write the packed bytes of the rows", 4},
    TERNARY_OPTIONS,
    {0}};

static void choose_content(struct argp_state *state, unpack_options *options, uint32_t content)
{
    if (options->content != COLLET_TERNARY_WRITE_CODES && options->content != content)
        tool_error(state, "--values and --bytes exclude each other");
    options->content = content;
}

static error_t parse(int key, char *text, struct argp_state *state)
{
    unpack_options *options = state->input;

    switch (key) {
    case KEY_LAYER:
        options->layer = tool_parse_count(state, "--layer", text, 0);
        return 0;
    case KEY_VALUES:
        choose_content(state, options, COLLET_TERNARY_WRITE_VALUES);
        return 0;
    case KEY_BYTES:
        choose_content(state, options, COLLET_TERNARY_WRITE_BYTES);
        return 0;
    case ARGP_KEY_ARG:
        ternary_take_argument(state, text, &options->file, 1);
        return 0;
    case ARGP_KEY_END:
        ternary_check_arguments(state, 1, "FILE is");
        if (!options->common.output)
            tool_error(state, "-o FILE is required");
        ternary_check_input(state, &options->common, options->file);
        return 0;
    default:
        return ternary_parse_option(key, text, state, &options->common);
    }
}

static int run(const tool_command *self, int argc, char **argv)
{
    unpack_options options = {.layer = -1, .content = COLLET_TERNARY_WRITE_CODES};
    collet_error err;

    ternary_parse(self, argc, argv, &options, &options.common);
    return ternary_finish(unpack(&options, &err), &err, options.common.output);
}

const tool_command ternary_unpack = {
    .name = "unpack",
    .summary = "write the codes of a layer as .npy",
    .argp = {.options = argp_options,
             .parser = parse,
             .args_doc = "FILE -o FILE.npy",
             .doc = "Writes the codes of a layer of a .t2 file, or of a tensor FILE:TENSOR of "
                    "TQ2_0, TQ1_0, Q2_0 or BitNet, as .npy.\v"
                    "Example:\n"
                    "  collet-ternary unpack model.t2 --layer 1 --values -o W2.npy",
             .children = tool_short_help},
    .run = run,
};
