/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include "common/arguments.h"
#include "io/decimal.h"

#include <collet/collet.h>

#include <argp.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEY_THRESHOLD = 256,
    KEY_ABSMEAN,
    KEY_FORMAT,
    KEY_BIAS,
    KEY_SCALE,
    KEY_RELU,
    KEY_ACTIVATIONS,
    KEY_LAYER,
    KEY_VALUES,
    KEY_BYTES,
    KEY_LABELS,
    KEY_BACKEND,
    KEY_THREADS,
    KEY_SECONDS,
    KEY_JSON,
    KEY_HELP,
    KEY_USAGE,
};

/* ---- Options and commands -------------------------------------------------------------------- */

/* Which commands take an option, one bit each. */
#define OF(command) (1u << (int)TERNARY_##command)
#define ALL ((1u << (int)TERNARY_COMMANDS) - 1)

static const struct {
    uint32_t commands;
    struct argp_option option;
} options_known[] = {
    {OF(PACK) | OF(UNPACK) | OF(RUN), {NULL, 'o', "FILE", 0, "Write this file", 1}},
    {OF(PACK),
     {"threshold", KEY_THRESHOLD, "T", 0, "Weights above T become 1, below -T -1 (default: 0.3)",
      2}},
    {OF(PACK),
     {"absmean", KEY_ABSMEAN, NULL, 0,
      "Scale a row by the mean of its magnitudes, half of which is the threshold", 2}},
    {OF(PACK),
     {"format", KEY_FORMAT, "FORMAT", 0, "t2 (default), planes, rotor, tq2_0 or tq1_0", 2}},
    {OF(PACK), {"bias", KEY_BIAS, "B.npy", 0, "Add a number to each row's result", 2}},
    {OF(PACK), {"scale", KEY_SCALE, "S.npy", 0, "Multiply each row's result by a number", 2}},
    {OF(PACK), {"relu", KEY_RELU, NULL, 0, "Negative results become 0", 2}},
    {OF(PACK) | OF(RUN),
     {"activations", KEY_ACTIVATIONS, "KIND", 0,
      "How a layer quantizes its input: int8 (default), ternary, ternary:T with a threshold, or "
      "f32 (not at all)",
      3}},
    {OF(UNPACK), {"layer", KEY_LAYER, "N", 0, "The layer, counted from 0", 4}},
    {OF(UNPACK),
     {"values", KEY_VALUES, NULL, 0, "Write f4 numbers, codes times scale, instead of codes", 4}},
    {OF(UNPACK), {"bytes", KEY_BYTES, NULL, 0, "Write the packed bytes of the rows", 4}},
    {OF(RUN),
     {"labels", KEY_LABELS, "L.npy", 0,
      "Print how often the index of the largest number of a row of Y equals its label in L", 5}},
    {OF(BENCH), {"seconds", KEY_SECONDS, "S", 0, "Time for each measurement (default: 0.5)", 6}},
    {ALL,
     {"backend", KEY_BACKEND, "NAME", 0, "Backend to compute with, or a list (default: auto)", 7}},
    {ALL, {"threads", KEY_THREADS, "N", 0, "CPU threads to compute with", 7}},
    {OF(INFO) | OF(RUN) | OF(BENCH), {"json", KEY_JSON, NULL, 0, "Print JSON", 7}},
    {ALL, {"quiet", 'q', NULL, 0, "No progress line and no summary", 7}},
    {ALL, {"help", KEY_HELP, NULL, 0, "Print this help, or that of the command before it", 8}},
    {ALL, {NULL, 'h', NULL, OPTION_ALIAS, NULL, 8}},
    {ALL, {NULL, '?', NULL, OPTION_ALIAS, NULL, 8}},
    {ALL, {"usage", KEY_USAGE, NULL, 0, "Print a short usage message", 8}},
    {ALL, {"version", 'V', NULL, 0, "Print the version", 8}},
};
#define OPTIONS (sizeof options_known / sizeof *options_known)

#define WEIGHTS_ARE                                                                                \
    "WEIGHTS is an .npy file with rows of f2, f4, f8 numbers or of i1 codes, or a tensor of a "    \
    "GGUF file, as FILE.gguf:TENSOR: TQ2_0, TQ1_0, F16, BF16, F32, F64 or I8."

static const struct {
    const char *name;
    int least, most; /* arguments; of pack any number */
    const char *arguments, *doc;
} commands[TERNARY_COMMANDS] = {
    {"pack", 0, 0, "WEIGHTS [OPTION...] [WEIGHTS [OPTION...]]... -o FILE.t2",
     "Packs weights into a .t2 file of layers, in the order of the arguments.\v" WEIGHTS_ARE
     "\n\nAn option after WEIGHTS is for that layer, one before the first for all.\n\n"
     "Examples:\n"
     "  collet-ternary pack W.npy -o W.t2 --absmean\n"
     "  collet-ternary pack W1.npy --bias b1.npy --relu W2.npy -o model.t2\n"
     "  collet-ternary pack model.gguf:blk.0.ffn_up.weight -o up.t2"},
    {"unpack", 1, 1, "FILE -o FILE.npy",
     "Writes the codes of a layer of a .t2 file, or of a tensor FILE.gguf:TENSOR of TQ2_0 or "
     "TQ1_0, as .npy.\v"
     "Example:\n"
     "  collet-ternary unpack model.t2 --layer 1 --values -o W2.npy"},
    {"info", 1, 1, "FILE",
     "Prints what is in a .t2, .npy or .gguf file, or in FILE.gguf:TENSOR: shapes, bits a weight, "
     "shares of -1, 0 and 1, and the memory that other types would take."},
    {"run", 2, 2, "MODEL.t2 X.npy",
     "Computes Y of X with a network of packed layers.\v"
     "Examples:\n"
     "  collet-ternary run model.t2 X.npy -o Y.npy --backend cpu_openmp\n"
     "  collet-ternary run model.t2 X.npy --labels L.npy"},
    {"bench", 0, 1, "[NAME]",
     "Measures this machine: all cases, or those with NAME in their name."},
};

static const char doc[] =
    "Packs ternary weights (-1, 0, +1) into 2 bits each, shows what is in a packed file, and runs "
    "networks of packed layers."
    "\v"
    "Commands:\n"
    "  pack WEIGHTS...     make one .t2 file of layers\n"
    "  unpack FILE         write the codes of a layer as .npy\n"
    "  info FILE           show what is in a .t2, .npy or .gguf file\n"
    "  run MODEL X.npy     compute Y of X\n"
    "  bench [NAME]        measure this machine\n\n"
    "'collet-ternary COMMAND --help' lists the options of a command. " WEIGHTS_ARE "\n\n"
    "Exit status: 0 success; 1 failure, nothing was written; 2 wrong command line; 128 + n stopped "
    "by signal n, nothing was written.";

static const char *const formats[COLLET_TERNARY_FORMATS] = {"t2", "planes", "rotor", "tq2_0",
                                                            "tq1_0"};
static const char *const activations[] = {"int8", "ternary", "f32"};

typedef struct parse {
    ternary_options *options;
    uint32_t seen; /* bit i: options_known[i] was given */
    int has_command;
} parse;

const char *ternary_format_word(uint32_t format)
{
    return formats[format];
}

const char *ternary_activations_word(uint32_t kind)
{
    return activations[kind];
}

/* ---- Values -------------------------------------------------------------------------------- */

static float parse_threshold(struct argp_state *state, const char *name, const char *text)
{
    double value;

    if (!collet_decimal_parse(text, strlen(text), &value) || value < 0 || !isfinite((float)value))
        tool_error(state, "%s: '%s' is not a number of at least 0", name, text);
    return (float)value;
}

static uint32_t parse_word(struct argp_state *state, const char *name, const char *text,
                           size_t length, const char *const *words, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (strlen(words[i]) == length && memcmp(words[i], text, length) == 0)
            return i;
    tool_error(state, "%s: '%s' is not known", name, text);
    return 0;
}

static void parse_activations(struct argp_state *state, const char *text,
                              ternary_layer_options *layer)
{
    size_t length = strcspn(text, ":");

    layer->activations = parse_word(state, "--activations", text, length, activations,
                                    sizeof activations / sizeof *activations);
    layer->activations_threshold = 0;
    if (text[length] == '\0')
        return;
    if (layer->activations != COLLET_TERNARY_TERNARY)
        tool_error(state, "--activations: %s has no threshold", activations[layer->activations]);
    layer->activations_threshold = parse_threshold(state, "--activations", text + length + 1);
}

static double parse_seconds(struct argp_state *state, const char *text)
{
    double value;

    if (!collet_decimal_parse(text, strlen(text), &value) || !(value > 0) || value > 3600)
        tool_error(state, "--seconds: '%s' is not a time between 0 and 3600", text);
    return value;
}

/* ---- Arguments ----------------------------------------------------------------------------- */

static void take_command(struct argp_state *state, parse *p, const char *text)
{
    int command = 0;

    while (command < TERNARY_COMMANDS && strcmp(text, commands[command].name) != 0)
        command++;
    if (command == TERNARY_COMMANDS)
        tool_error(state, "'%s' is no command; pack, unpack, info, run and bench are", text);
    p->options->command = command;
    p->has_command = 1;
}

static void take_argument(struct argp_state *state, parse *p, const char *text)
{
    ternary_options *options = p->options;
    int most = commands[options->command].most;

    if (!p->has_command) {
        take_command(state, p, text);
    } else if (options->command == TERNARY_PACK) {
        options->layers[options->n_layers] = options->defaults;
        options->layers[options->n_layers++].weights = text;
    } else if (options->n_arguments < most) {
        options->arguments[options->n_arguments++] = text;
    } else {
        tool_error(state, "'%s': %s takes %d argument%s", text, commands[options->command].name,
                   most, most == 1 ? "" : "s");
    }
}

static void check_wanted(struct argp_state *state, const parse *p)
{
    const ternary_options *options = p->options;

    if (!p->has_command)
        tool_error(state, "no command: name pack, unpack, info, run or bench");
    for (size_t i = 0; i < OPTIONS; i++)
        if ((p->seen & 1u << i) && !(options_known[i].commands & 1u << options->command))
            tool_error(state, "%s%s is no option of %s", options_known[i].option.name ? "--" : "-o",
                       options_known[i].option.name ? options_known[i].option.name : "",
                       commands[options->command].name);
    if (options->command == TERNARY_PACK && options->n_layers == 0)
        tool_error(state, "pack: no weights");
    if (options->n_arguments < commands[options->command].least)
        tool_error(state, "%s: needs %s", commands[options->command].name,
                   commands[options->command].arguments);
    if (options->command <= TERNARY_UNPACK && !options->output)
        tool_error(state, "%s: needs -o FILE", commands[options->command].name);
    if (options->command == TERNARY_RUN && !options->output && !options->labels)
        tool_error(state, "run: needs -o FILE or --labels FILE");
    if (options->values && options->bytes)
        tool_error(state, "--values and --bytes exclude each other");
}

/* What an option of a layer is for: the layer before it, or all that follow. */
static ternary_layer_options *target(ternary_options *options)
{
    return options->n_layers > 0 ? &options->layers[options->n_layers - 1] : &options->defaults;
}

static int parse_layer_option(int key, char *text, struct argp_state *state,
                              ternary_options *options)
{
    ternary_layer_options *layer = target(options);

    switch (key) {
    case KEY_THRESHOLD:
        layer->quantized = 1;
        layer->quantize = (collet_ternary_quantize_params){
            .struct_size = sizeof layer->quantize,
            .mode = COLLET_TERNARY_THRESHOLD,
            .threshold = parse_threshold(state, "--threshold", text)};
        return 1;
    case KEY_ABSMEAN:
        layer->quantized = 1;
        layer->quantize = (collet_ternary_quantize_params){.struct_size = sizeof layer->quantize,
                                                           .mode = COLLET_TERNARY_ABSMEAN};
        return 1;
    case KEY_BIAS:
    case KEY_SCALE:
        if (options->n_layers == 0)
            tool_error(state, "%s must follow the weights that it is for",
                       key == KEY_BIAS ? "--bias" : "--scale");
        *(key == KEY_BIAS ? &layer->bias : &layer->scale) = text;
        return 1;
    case KEY_RELU:
        layer->relu = 1;
        return 1;
    case KEY_ACTIVATIONS:
        parse_activations(state, text, layer);
        return 1;
    default:
        return 0;
    }
}

static int parse_global_option(int key, char *text, struct argp_state *state,
                               ternary_options *options)
{
    const struct {
        int key;
        int *flag;
        const char **text;
    } simple[] = {{'q', &options->quiet, NULL},         {KEY_VALUES, &options->values, NULL},
                  {KEY_BYTES, &options->bytes, NULL},   {KEY_JSON, &options->json, NULL},
                  {KEY_LABELS, NULL, &options->labels}, {KEY_BACKEND, NULL, &options->backend},
                  {'o', NULL, &options->output}};

    if (key == 'o' && strcmp(text, "-") == 0)
        tool_error(state, "-o: output goes to a file; ./- is a file of that name");
    for (size_t i = 0; i < sizeof simple / sizeof *simple; i++)
        if (simple[i].key == key) {
            if (simple[i].flag)
                *simple[i].flag = 1;
            else
                *simple[i].text = text;
            return 1;
        }
    switch (key) {
    case KEY_FORMAT:
        options->format =
            parse_word(state, "--format", text, strlen(text), formats, COLLET_TERNARY_FORMATS);
        return 1;
    case KEY_LAYER:
        options->layer = tool_parse_count(state, "--layer", text, 0);
        return 1;
    case KEY_THREADS:
        options->threads = tool_parse_count(state, "--threads", text, 1);
        return 1;
    case KEY_SECONDS:
        options->seconds = parse_seconds(state, text);
        return 1;
    default:
        return 0;
    }
}

/* ---- Help ------------------------------------------------------------------------------------ */

/* The options that all commands in `mask` take, ended by zeros; of 0 every option. */
static void select_options(uint32_t mask, struct argp_option selected[OPTIONS + 1])
{
    size_t n = 0;

    for (size_t i = 0; i < OPTIONS; i++)
        if ((options_known[i].commands & mask) == mask)
            selected[n++] = options_known[i].option;
    memset(&selected[n], 0, sizeof selected[n]);
}

/* Of the program, or of the command that was named before. Ends the program. */
static void print_help(const parse *p, unsigned how)
{
    struct argp_option selected[OPTIONS + 1];
    struct argp argp = {selected, NULL, "COMMAND [ARGUMENT...]", doc, NULL, NULL, NULL};
    char name[48];

    select_options(ALL, selected);
    snprintf(name, sizeof name, "collet-ternary");
    if (p->has_command) {
        int command = p->options->command;
        select_options(1u << command, selected);
        argp.args_doc = commands[command].arguments;
        argp.doc = commands[command].doc;
        snprintf(name, sizeof name, "collet-ternary %s", commands[command].name);
    }
    argp_help(&argp, stdout, how, name);
    exit(TERNARY_EXIT_OK);
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    parse *p = state->input;

    for (size_t i = 0; i < OPTIONS; i++)
        if (options_known[i].option.key == key)
            p->seen |= 1u << i;
    if (parse_layer_option(key, text, state, p->options) ||
        parse_global_option(key, text, state, p->options))
        return 0;
    switch (key) {
    case KEY_HELP:
    case 'h':
    case '?':
        print_help(p, ARGP_HELP_STD_HELP & ~(unsigned)ARGP_HELP_EXIT_OK);
        break;
    case KEY_USAGE:
        print_help(p, ARGP_HELP_USAGE);
        break;
    case 'V':
        printf("collet-ternary %s (libcore %s)\n", COLLET_VERSION, collet_version());
        exit(TERNARY_EXIT_OK);
    case ARGP_KEY_ARG:
        take_argument(state, p, text);
        break;
    case ARGP_KEY_END:
        check_wanted(state, p);
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

void ternary_options_parse(int argc, char **argv, ternary_options *options)
{
    struct argp_option selected[OPTIONS + 1];
    const struct argp argp = {selected, parse_option, "COMMAND [ARGUMENT...]", doc, NULL,
                              NULL,     NULL};
    parse p = {.options = options};

    select_options(0, selected);
    memset(options, 0, sizeof *options);
    options->layer = -1;
    options->seconds = 0.5;
    options->defaults.activations = COLLET_TERNARY_AS_STORED;
    options->layers = calloc((size_t)argc + 1, sizeof *options->layers);
    if (!options->layers) {
        fputs("collet-ternary: out of memory for the command line\n", stderr);
        exit(TERNARY_EXIT_FAILURE);
    }
    argp_err_exit_status = TERNARY_EXIT_USAGE;
    /* argp's own help does not support commands. */
    tool_parse(&argp, argc, argv, ARGP_IN_ORDER | ARGP_NO_HELP, &p);
}

uint32_t ternary_unpacked(const ternary_options *options)
{
    return options->values  ? COLLET_TERNARY_WRITE_VALUES
           : options->bytes ? COLLET_TERNARY_WRITE_BYTES
                            : COLLET_TERNARY_WRITE_CODES;
}

void ternary_options_free(ternary_options *options)
{
    free(options->layers);
    options->layers = NULL;
}
