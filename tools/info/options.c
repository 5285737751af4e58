/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/test_info.c */
#include "info.h"

#include "common/arguments.h"

#include <argp.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEY_JSON = 256,
    KEY_WHY,
    KEY_ENV,
    KEY_DOCTOR,
    KEY_REQUIRE,
    KEY_FORCE,
    KEY_EXPLAIN,
    KEY_DEFAULT,
    KEY_CALLED
};

static const char doc[] =
    "Lists the backends that Collet finds on this machine: whether each can be used and why not, "
    "what it offers, its devices and its file.\v"
    "With NAME, that backend alone; NAME:DEVICE, with that device alone, which may have a name, as "
    "in worker:cpu_openmp; PLUGIN.so, a plugin that is not installed. With --env alone, the "
    "settings and nothing else. With --explain, SHAPE and DTYPE describe the call, as for "
    "backend-bench:\n"
    "  backend-info --explain matmul 512x512x512 f32\n\n" TOOL_EXIT_TEXT;

static const struct argp_option argp_options[] = {
    {"json", KEY_JSON, NULL, 0, "Print JSON", 0},
    {"why", KEY_WHY, NULL, 0, "Add every step of the search for plugins and its result", 0},
    {"env", KEY_ENV, NULL, 0,
     "Add every setting: key, environment variable, default, value and where that comes from", 0},
    {"doctor", KEY_DOCTOR, NULL, 0,
     "List what is missing, why, and the command that installs or corrects it", 0},
    {"require", KEY_REQUIRE, "gpu", 0, "Exit with 1 if no usable backend has a GPU", 0},
    {"explain", KEY_EXPLAIN, "OP", 0,
     "Tell which backend would run OP, how and why, without running it", 0},
    {"output", 'o', "FILE", 0, "Write the report as JSON to FILE, too", 0},
    {"force", KEY_FORCE, NULL, 0, "Replace the FILE of -o", 0},
    {"default", KEY_DEFAULT, "KEY=VALUE", 0,
     "A default of the program that starts this one, below environment and configuration file", 0},
    /* `python -m collet` gives this option, because its users may not have backend-info in their PATH. */
    {"called", KEY_CALLED, "COMMAND", OPTION_HIDDEN, "The name of this program in texts", 0},
    {0},
};

/* Splits "cuda:1" and "worker:cuda" at the colon; other texts are names, which may be unknown. */
static void take_name(info_options *options, char *text)
{
    char *colon = strchr(text, ':'), *end;
    long device = colon ? strtol(colon + 1, &end, 10) : -1;
    options->name = text;
    if (!colon || !colon[1])
        return;
    if (colon[1] >= '0' && colon[1] <= '9' && !*end && device <= INT32_MAX)
        options->device = (int32_t)device;
    else if (!strchr(text, '/'))
        options->named = colon + 1;
    else
        return;
    *colon = '\0';
}

/* Takes the arguments: SHAPE and DTYPE after --explain, otherwise NAME. */
static void take_arguments(info_options *options, struct argp_state *state)
{
    char **argument = options->argument;
    if (options->explain) {
        if (options->why || options->env || options->doctor || options->output)
            tool_error(state, "--explain is about one call: without --why, --env, --doctor and -o");
        options->shape = argument[0];
        options->dtype = argument[1];
        return;
    }
    if (argument[1])
        tool_error(state, "'%s': only one NAME is allowed", argument[1]);
    if (argument[0]) {
        options->file = tool_is_plugin_file(argument[0]);
        take_name(options, argument[0]);
    }
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    info_options *options = state->input;

    switch (key) {
    case KEY_JSON:
        options->json = 1;
        break;
    case KEY_WHY:
        options->why = 1;
        break;
    case KEY_ENV:
        options->env = 1;
        break;
    case KEY_DOCTOR:
        options->doctor = 1;
        break;
    case KEY_REQUIRE:
        if (strcmp(text, "gpu") != 0)
            tool_error(state, "--require: '%s' is not supported; only gpu is", text);
        options->gpu = 1;
        break;
    case 'o':
        options->output = tool_parse_output(state, "-o", text);
        break;
    case KEY_FORCE:
        options->force = 1;
        break;
    case KEY_DEFAULT:
        tool_add_text(state, "--default", text, options->defaults, INFO_DEFAULTS_MAX);
        break;
    case KEY_CALLED:
        options->called = text;
        break;
    case KEY_EXPLAIN:
        options->explain = text;
        break;
    case ARGP_KEY_END:
        take_arguments(options, state);
        if (options->doctor && (options->name || options->why || options->env || options->output))
            tool_error(state, "--doctor examines all backends; give no NAME, --why, --env or -o with it");
        break;
    case ARGP_KEY_ARG:
        if (state->arg_num > 1)
            tool_error(state, "'%s': too many arguments", text);
        options->argument[state->arg_num] = text;
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

void info_options_parse(int argc, char **argv, info_options *options)
{
    static const struct argp argp = {
        argp_options, parse_option,    "[NAME[:DEVICE]|PLUGIN.so]\n--explain=OP [SHAPE [DTYPE]]",
        doc,          tool_short_help, NULL,
        NULL};

    *options = (info_options){.device = -1, .called = "backend-info"};
    tool_parse(&argp, argc, argv, 0, options);
}

int32_t info_requests(const info_options *options, const collet_backend_info *backend)
{
    return !options->name || !strcmp(options->name, options->file ? backend->path : backend->name);
}

int32_t info_is_file(const char *path, const char *name)
{
    const char *file = strrchr(path, '/');
    size_t length = strlen(name);
    file = file ? file + 1 : path;
    return !strncmp(file, name, length) && !strcmp(file + length, ".so");
}

/* Accepts all records of files NAME.so, because a second plugin with the same name has records but no
 * backend. */
int32_t info_requests_record(const collet_backend_info *backend, const collet_plugin_record *record)
{
    if (!backend || !strcmp(record->path, backend->path))
        return 1;
    return info_is_file(record->path, backend->name);
}

const char *info_state_word(int32_t state)
{
    return state == COLLET_BACKEND_USABLE        ? "usable"
           : state == COLLET_BACKEND_UNAVAILABLE ? "unavailable"
                                                 : "unproven";
}

/* If a backend was probed and all its devices have names, nothing is missing. */
const char *info_state_text(const collet_backend_info *backend)
{
    if (backend->state == COLLET_BACKEND_UNAVAILABLE && backend->named_devices &&
        !backend->device_count && *backend->capabilities)
        return "by name";
    return backend->state == COLLET_BACKEND_UNPROVEN ? "not tried yet"
                                                     : info_state_word(backend->state);
}
