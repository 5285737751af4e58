/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/test_bench.c */
#include "options.h"

#include "busy.h"

#include "common/arguments.h"
#include "common/command_line.h"

#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEY_SHAPE = 256,
    KEY_DTYPE,
    KEY_BACKEND,
    KEY_THREADS,
    KEY_SECONDS,
    KEY_AXIS,
    KEY_BUSY,
    KEY_STEAL,
    KEY_JSON,
    KEY_DRY_RUN,
    KEY_CHECK,
    KEY_DEFAULT,
    KEY_SETTING,
    KEY_LIST
};

#define SECONDS_DEFAULT 2.0
#define SECONDS_MAX 3600.0

static const char doc[] =
    "Measures what Collet costs and what its kernels reach on this machine.\v"
    "OP: an op of --list. An op bound by memory is compared with the bandwidth measured in the same "
    "run.\n\n"
    "SHAPE is numbers joined by x, each with an optional K, M or G (powers of 1024); --list shows "
    "what they mean for each op. DTYPE is a dtype, f32 or float32 (the first signature "
    "whose first input, or first output without inputs, has it) or a whole signature as in ops.def "
    "(d:fd).\n\n"
    "Examples:\n"
    "  backend-bench dispatch\n"
    "  backend-bench bandwidth --threads 1\n"
    "  backend-bench observables 10000x1000 --backend cpu_scalar,cpu_openmp\n"
    "  backend-bench matmul 1024x1024x1024 --dtype f32,f64 --json\n"
    "  backend-bench sum 8192x8192 --axis 0\n"
    "  backend-bench fft 512x512 --busy 1 --steal\n"
    "  backend-bench calibrate --dry-run\n"
    "  backend-bench calibrate matmul exp --dtype f32\n\n"
    TOOL_EXIT_TEXT;

static const struct argp_option argp_options[] = {
    {"shape", KEY_SHAPE, "SHAPE", 0, "Extents, as the second argument", 1},
    {"axis", KEY_AXIS, "N[,N...]", 0, "Axes of a reduction (default: all)", 1},
    {"dtype", KEY_DTYPE, "DTYPE[,...]", 0,
     "Element types, one row each (default: f32); of calibrate: only these", 1},
    {"backend", KEY_BACKEND, "NAME[,...]", 0,
     "Backends, one row each, compared with the first (default: all usable ones)", 1},
    {"threads", KEY_THREADS, "N", 0, "CPU threads at most (default: all allowed)", 2},
    {"seconds", KEY_SECONDS, "S", 0,
     "Time to measure each row (default: 2); of calibrate, in all (default: 60)", 2},
    {"busy", KEY_BUSY, "N", 0, "Measure each row of an op again while N other processes are busy",
     2},
    {"steal", KEY_STEAL, NULL, 0, "Show the processor time that a hypervisor gave to others", 2},
    {"json", KEY_JSON, NULL, 0, "Print JSON", 3},
    {"dry-run", KEY_DRY_RUN, NULL, 0, "calibrate: keep nothing", 3},
    {"check", KEY_CHECK, NULL, 0, "calibrate: only compare auto with each backend alone", 3},
    {"setting", KEY_SETTING, "KEY=VALUE", 0, "A setting, above environment and configuration file",
     3},
    {"default", KEY_DEFAULT, "KEY=VALUE", 0,
     "A default of the program that starts this one, below environment and configuration file", 3},
    {"list", KEY_LIST, NULL, 0, "List the ops, their shapes and defaults", 3},
    {0},
};

/* Splits `text` at its commas. */
static int32_t parse_list(struct argp_state *state, const char *option, char *text,
                          const char **items)
{
    int32_t count = 0;
    char *item;
    while ((item = strsep(&text, ","))) {
        if (!*item)
            tool_error(state, "%s: an item of the list is empty", option);
        if (count == BENCH_LIST_MAX)
            tool_error(state, "%s: at most %d items", option, BENCH_LIST_MAX);
        items[count++] = item;
    }
    return count;
}

static int32_t parse_busy(struct argp_state *state, const char *text)
{
    int64_t count = tool_parse_count(state, "--busy", text, 1);
    if (count > BENCH_BUSY_MAX)
        tool_error(state, "--busy: at most %d processes", BENCH_BUSY_MAX);
    return (int32_t)count;
}

static double parse_seconds(struct argp_state *state, const char *text)
{
    char *end;
    double seconds = strtod(text, &end);
    if (end == text || *end || !(seconds > 0) || seconds > SECONDS_MAX)
        tool_error(state, "--seconds: '%s' is not a time of up to %g seconds", text, SECONDS_MAX);
    return seconds;
}

static const bench_mode *find_mode(const bench_mode *const *modes, const char *name)
{
    while (*modes && strcmp((*modes)->name, name) != 0)
        modes++;
    return *modes;
}

static void take_argument(struct argp_state *state, bench_options *options, const char *text)
{
    if (!options->what)
        options->mode = find_mode(options->modes, options->what = text);
    else if (options->mode && options->mode->takes_names && options->case_count < BENCH_LIST_MAX)
        options->cases[options->case_count++] = text;
    else if (options->mode && options->mode->takes_names)
        tool_error(state, "%s: at most %d names", options->what, BENCH_LIST_MAX);
    else if (!options->shape) {
        options->shape = text;
        options->given |= 1;
    } else
        tool_error(state, "'%s': only one measurement and its SHAPE are expected", text);
}

static int is_word(const char *words, const char *word)
{
    size_t length = strlen(word);
    for (; words; words = strchr(words, ' ') ? strchr(words, ' ') + 1 : NULL)
        if (strcspn(words, " ") == length && strncmp(words, word, length) == 0)
            return 1;
    return 0;
}

/* Refuses options that the command would ignore. All commands have --json, --setting and --default. */
static void check_used(struct argp_state *state, const bench_options *o)
{
    const char *what = o->list ? "--list" : o->what;
    const char *used = o->list   ? "threads"
                       : o->mode ? o->mode->options
                                 : "shape axis dtype backend threads seconds busy steal";
    for (const struct argp_option *row = argp_options; row->name; row++)
        if (o->given >> (row->key - KEY_SHAPE) & 1 &&
            !is_word("json setting default list", row->name) && !is_word(used, row->name))
            tool_error(state, "--%s is not an option of %s: leave it out", row->name, what);
}

static void check(struct argp_state *state, bench_options *options)
{
    if (!options->what && !options->list)
        tool_error(state, "name a command that --help lists, or an op that --list lists");
    if (options->what && options->list)
        tool_error(state, "--list lists all ops: leave '%s' out", options->what);
    check_used(state, options);
    if (options->dry_run && options->check)
        tool_error(state, "--check keeps nothing, so it excludes --dry-run");
    if (!(options->seconds > 0))
        options->seconds =
            options->mode && options->mode->seconds > 0 ? options->mode->seconds : SECONDS_DEFAULT;
}

/* Options without an argument. */
static int32_t take_flag(bench_options *o, int key)
{
    int32_t *flag = key == KEY_STEAL     ? &o->steal
                    : key == KEY_JSON    ? &o->json
                    : key == KEY_DRY_RUN ? &o->dry_run
                    : key == KEY_CHECK   ? &o->check
                    : key == KEY_LIST    ? &o->list
                                         : NULL;
    if (flag)
        *flag = 1;
    return flag != NULL;
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    bench_options *options = state->input;

    if (key >= KEY_SHAPE && key <= KEY_LIST)
        options->given |= UINT32_C(1) << (key - KEY_SHAPE);
    switch (key) {
    case KEY_SHAPE:
        options->shape = text;
        break;
    case KEY_AXIS:
        options->axis = text;
        break;
    case KEY_DTYPE:
        options->dtype_count = parse_list(state, "--dtype", text, options->dtypes);
        break;
    case KEY_BACKEND:
        options->backend_count = parse_list(state, "--backend", text, options->backends);
        break;
    case KEY_THREADS:
        options->threads = tool_parse_threads(state, text);
        break;
    case KEY_SECONDS:
        options->seconds = parse_seconds(state, text);
        break;
    case KEY_BUSY:
        options->busy = parse_busy(state, text);
        break;
    case KEY_DEFAULT:
        tool_add_text(state, "--default", text, options->defaults, BENCH_DEFAULTS_MAX);
        break;
    case KEY_SETTING:
        tool_add_text(state, "--setting", text, options->settings, BENCH_DEFAULTS_MAX);
        break;
    case ARGP_KEY_ARG:
        take_argument(state, options, text);
        break;
    case ARGP_KEY_END:
        check(state, options);
        break;
    default:
        return take_flag(options, key) ? 0 : ARGP_ERR_UNKNOWN;
    }
    return 0;
}

/* Inserts the list of modes into the help, before the text that follows the options. */
static char *list_modes(int key, const char *text, void *input)
{
    const bench_options *options = input;
    char *list = NULL;
    size_t size;
    FILE *stream = key == ARGP_KEY_HELP_POST_DOC && options ? open_memstream(&list, &size) : NULL;

    if (!stream)
        return (char *)text;
    fputs("Commands:\n", stream);
    for (const bench_mode *const *mode = options->modes; *mode; mode++)
        fprintf(stream, "  %-10s %s\n", (*mode)->name, (*mode)->summary);
    fprintf(stream, "\n%s", text);
    return fclose(stream) == 0 ? list : (char *)text;
}

void bench_options_parse(int argc, char **argv, const bench_mode *const *modes,
                         bench_options *options)
{
    static const struct argp argp = {.options = argp_options,
                                     .parser = parse_option,
                                     .args_doc = "COMMAND [ARGUMENT...]\nOP [SHAPE]",
                                     .doc = doc,
                                     .children = tool_short_help,
                                     .help_filter = list_modes};

    *options =
        (bench_options){.argc = argc, .command = command_line_copy(argc, argv), .modes = modes};
    tool_parse(&argp, argc, argv, 0, options);
}
