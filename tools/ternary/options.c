/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/test_ternary_pack.c, tests/tools/test_ternary_errors.c */
#include "options.h"

#include "common/arguments.h"
#include "common/interrupt.h"
#include "io/decimal.h"
#include "io/spool.h"

#include <math.h>
#include <string.h>

static const char *const formats[COLLET_TERNARY_FORMATS] = {"t2", "planes", "rotor", "tq2_0",
                                                            "tq1_0"};
static const char *const activations[] = {"int8", "ternary", "f32", "int4"};

const char *ternary_format_word(uint32_t format)
{
    return formats[format];
}

const char *ternary_activations_word(uint32_t kind)
{
    return activations[kind];
}

/* ---- Values -------------------------------------------------------------------------------- */

float ternary_parse_threshold(struct argp_state *state, const char *name, const char *text)
{
    double value;

    if (!io_decimal_parse(text, strlen(text), &value) || value < 0 || !isfinite((float)value))
        tool_error(state, "%s: '%s' is not a number of at least 0", name, text);
    return (float)value;
}

static uint32_t parse_word(struct argp_state *state, const char *name, const char *text,
                           size_t length, const char *const *words, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (strlen(words[i]) == length && memcmp(words[i], text, length) == 0)
            return i;
    char known[128] = "";
    for (uint32_t i = 0, n = 0; i < count && n < sizeof known; i++)
        n += (uint32_t)snprintf(known + n, sizeof known - n, "%s%s", i ? ", " : "", words[i]);
    tool_error(state, "%s: '%s' is not known; there are %s", name, text, known);
    return 0;
}

uint32_t ternary_parse_format(struct argp_state *state, const char *text)
{
    return parse_word(state, "--format", text, strlen(text), formats, COLLET_TERNARY_FORMATS);
}

void ternary_parse_activations(struct argp_state *state, const char *text, uint32_t *kind,
                               float *threshold)
{
    size_t length = strcspn(text, ":");

    *kind = parse_word(state, "--activations", text, length, activations,
                       sizeof activations / sizeof *activations);
    *threshold = 0;
    if (text[length] == '\0')
        return;
    if (*kind != COLLET_TERNARY_TERNARY)
        tool_error(state, "--activations: %s has no threshold", activations[*kind]);
    *threshold = ternary_parse_threshold(state, "--activations", text + length + 1);
}

/* ---- Arguments and options ----------------------------------------------------------------- */

void ternary_take_argument(struct argp_state *state, const char *text, const char **arguments,
                           unsigned maximum)
{
    if (state->arg_num < maximum)
        arguments[state->arg_num] = text;
    else
        tool_error(state, "'%s': at most %u argument%s expected", text, maximum,
                   maximum == 1 ? " is" : "s are");
}

void ternary_check_arguments(struct argp_state *state, unsigned minimum, const char *names)
{
    if (state->arg_num < minimum)
        tool_error(state, "%s required", names);
}

void ternary_check_input(struct argp_state *state, const ternary_options *options, const char *input)
{
    collet_error err;

    if (options->output && io_spool_check_input(options->output, input, &err) != COLLET_OK)
        tool_error(state, "%s", err.text);
}

error_t ternary_parse_option(int key, char *text, struct argp_state *state,
                             ternary_options *options)
{
    switch (key) {
    case 'o':
        options->output = tool_parse_output(state, "-o", text);
        return 0;
    case 'q':
        options->quiet = 1;
        return 0;
    case TERNARY_KEY_BACKEND:
        options->backend = tool_parse_name(state, "--backend", text);
        return 0;
    case TERNARY_KEY_FORCE:
        options->force = 1;
        return 0;
    case TERNARY_KEY_JSON:
        options->json = 1;
        return 0;
    case TERNARY_KEY_THREADS:
        options->threads = tool_parse_threads(state, text);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

void ternary_parse(const tool_command *command, int argc, char **argv, void *input,
                   const ternary_options *options)
{
    tool_parse(&command->argp, argc, argv, ARGP_IN_ORDER, input);
    tool_interrupt_install();
    if (!options->output)
        tool_interrupt_report();
}
