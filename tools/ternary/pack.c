/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/test_ternary_pack.c, tests/tools/test_ternary_errors.c */
#include "commands.h"
#include "options.h"
#include "session.h"

#include "common/arguments.h"
#include "common/output.h"

#include <stdio.h>
#include <stdlib.h>

/* One layer, given by an argument and the options after it. */
typedef struct layer_options {
    const char *weights;
    const char *bias, *scale; /* NULL: none */
    int relu;
    int quantized; /* `quantize` was chosen */
    collet_ternary_quantize_params quantize;
    uint32_t activations; /* COLLET_TERNARY_*; COLLET_TERNARY_AS_STORED: not given */
    float threshold;      /* the threshold of COLLET_TERNARY_TERNARY */
} layer_options;

typedef struct pack_options {
    ternary_options common;
    layer_options *layers; /* n_layers */
    uint32_t n_layers;
    layer_options defaults; /* the options before the first argument */
    uint32_t format;        /* COLLET_TERNARY_* */
} pack_options;

static collet_ternary_source source_of(const layer_options *requested)
{
    return (collet_ternary_source){.struct_size = sizeof(collet_ternary_source),
                                   .activations = requested->activations == COLLET_TERNARY_AS_STORED
                                                      ? COLLET_TERNARY_INT8
                                                      : requested->activations,
                                   .relu = (uint32_t)requested->relu,
                                   .threshold = requested->threshold,
                                   .weights = requested->weights,
                                   .scale = requested->scale,
                                   .bias = requested->bias,
                                   .quantize = requested->quantized ? &requested->quantize : NULL};
}

static void summarise(const pack_options *options, const collet_ternary_output *output)
{
    char size[TOOL_SIZE_TEXT];

    printf("%s: %lld weights in %u layer%s, %s as %s\n", tool_shown(options->common.output),
           (long long)collet_ternary_output_weights(output), options->n_layers,
           options->n_layers == 1 ? "" : "s",
           tool_size_format(size, (double)collet_ternary_output_bytes(output)),
           ternary_format_word(options->format));
}

static collet_status pack(const pack_options *options, collet_error *err)
{
    collet_ternary_source *layers = calloc(options->n_layers, sizeof *layers);
    collet_ternary_output *output = NULL;
    ternary_session session;

    if (!layers)
        return collet_fail(err, COLLET_NO_MEMORY, "out of memory for %u layers", options->n_layers);
    for (uint32_t i = 0; i < options->n_layers; i++)
        layers[i] = source_of(&options->layers[i]);
    collet_status status = ternary_session_open(&session, &options->common, "weights", err);
    if (status == COLLET_OK)
        status =
            collet_ternary_files_pack(session.context, &output, options->common.output, layers,
                                      options->n_layers, options->format, &session.monitor, err);
    tool_progress_end(&session.progress);
    if (status == COLLET_OK)
        status = collet_ternary_output_publish(output, options->common.force, err);
    if (status == COLLET_OK && !options->common.quiet)
        summarise(options, output);
    collet_ternary_output_destroy(output);
    ternary_session_close(&session);
    free(layers);
    return status;
}

/* ---- Command line -------------------------------------------------------------------------- */

enum {
    KEY_THRESHOLD = TERNARY_KEY_OWN,
    KEY_ABSMEAN,
    KEY_FORMAT,
    KEY_BIAS,
    KEY_SCALE,
    KEY_RELU,
};

static const struct argp_option argp_options[] = {
    TERNARY_OPTION_OUTPUT,
    {"threshold", KEY_THRESHOLD, "T", 0,
     "Weights above T become 1, weights below -T become -1 (default: weights that are already "
     "ternary are kept exactly, for others T is 0.3)",
     2},
    {"absmean", KEY_ABSMEAN, NULL, 0,
     "Scale a row by the mean of its magnitudes; half the scale is the threshold (weights that are "
     "already ternary are kept exactly)",
     2},
    {"format", KEY_FORMAT, "t2|planes|rotor|tq2_0|tq1_0", 0, "How rows are packed (default: t2)",
     2},
    {"bias", KEY_BIAS, "B.npy", 0, "Add a number to each row's result", 2},
    {"scale", KEY_SCALE, "S.npy", 0, "Multiply each row's result by a number", 2},
    {"relu", KEY_RELU, NULL, 0, "Negative results become 0", 2},
    TERNARY_OPTION_ACTIVATIONS,
    TERNARY_OPTIONS,
    {0}};

/* Reads an option of a layer. It applies to the layer before it; before the first layer, to all layers. */
static error_t parse_layer_option(int key, char *text, struct argp_state *state)
{
    pack_options *options = state->input;
    layer_options *layer =
        options->n_layers > 0 ? &options->layers[options->n_layers - 1] : &options->defaults;

    switch (key) {
    case KEY_THRESHOLD:
        layer->quantized = 1;
        layer->quantize = (collet_ternary_quantize_params){
            .struct_size = sizeof layer->quantize,
            .mode = COLLET_TERNARY_THRESHOLD,
            .threshold = ternary_parse_threshold(state, "--threshold", text)};
        return 0;
    case KEY_ABSMEAN:
        layer->quantized = 1;
        layer->quantize = (collet_ternary_quantize_params){.struct_size = sizeof layer->quantize,
                                                           .mode = COLLET_TERNARY_ABSMEAN};
        return 0;
    case KEY_BIAS:
    case KEY_SCALE:
        if (options->n_layers == 0)
            tool_error(state, "%s must follow the weights that it is for",
                       key == KEY_BIAS ? "--bias" : "--scale");
        *(key == KEY_BIAS ? &layer->bias : &layer->scale) = text;
        return 0;
    case KEY_RELU:
        layer->relu = 1;
        return 0;
    case TERNARY_KEY_ACTIVATIONS:
        ternary_parse_activations(state, text, &layer->activations, &layer->threshold);
        return 0;
    default:
        return ternary_parse_option(key, text, state, &options->common);
    }
}

static error_t parse(int key, char *text, struct argp_state *state)
{
    pack_options *options = state->input;

    switch (key) {
    case KEY_FORMAT:
        options->format = ternary_parse_format(state, text);
        return 0;
    case ARGP_KEY_ARG:
        options->layers[options->n_layers] = options->defaults;
        options->layers[options->n_layers++].weights = text;
        return 0;
    case ARGP_KEY_END:
        if (options->n_layers == 0)
            tool_error(state, "WEIGHTS are required");
        if (!options->common.output)
            tool_error(state, "-o FILE is required");
        for (uint32_t i = 0; i < options->n_layers; i++)
            ternary_check_input(state, &options->common, options->layers[i].weights);
        return 0;
    default:
        return parse_layer_option(key, text, state);
    }
}

static int run(const tool_command *self, int argc, char **argv)
{
    pack_options options = {.layers = calloc((size_t)argc, sizeof *options.layers),
                            .defaults.activations = COLLET_TERNARY_AS_STORED,
                            .format = COLLET_TERNARY_T2};
    collet_error err;

    if (!options.layers) {
        collet_fail(&err, COLLET_NO_MEMORY, "out of memory for the command line");
        return ternary_finish(COLLET_NO_MEMORY, &err, NULL);
    }
    ternary_parse(self, argc, argv, &options, &options.common);
    int result = ternary_finish(pack(&options, &err), &err, options.common.output);
    free(options.layers);
    return result;
}

const tool_command ternary_pack = {
    .name = "pack",
    .summary = "make one .t2 file of layers",
    .argp = {.options = argp_options,
             .parser = parse,
             .args_doc = "WEIGHTS [OPTION...] [WEIGHTS [OPTION...]]... -o FILE.t2",
             .doc = "Packs weights into a .t2 file of layers, in the order of the "
                    "arguments.\v" TERNARY_WEIGHTS_ARE
                    "\n\nAn option after WEIGHTS is for that layer, one before the first for "
                    "all.\n\n"
                    "Examples:\n"
                    "  collet-ternary pack W.npy -o W.t2 --absmean\n"
                    "  collet-ternary pack W1.npy --bias b1.npy --relu W2.npy -o model.t2\n"
                    "  collet-ternary pack model.gguf:blk.0.ffn_up.weight -o up.t2",
             .children = tool_short_help},
    .run = run,
};
