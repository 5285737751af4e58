/* SPDX-License-Identifier: Apache-2.0 */
/* backend-check: compares every kernel of a backend with a reference.
 * Tests: tests/conformance/test_broken.c */
#include "check.h"

#include "common/arguments.h"
#include "common/output.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>

enum {
    KEY_OP = 256,
    KEY_SEED,
    KEY_JSON,
    KEY_LIST,
    KEY_QUICK,
    KEY_SAMPLE,
    KEY_SIG,
    KEY_CASE,
    KEY_TIMEOUT,
    KEY_LIMIT,
    KEY_IN_PROCESS,
    KEY_LARGE,
    KEY_LAYER,
    KEY_VERBS,
    KEY_SIGNATURES
};

static const struct argp_option arguments[] = {
    {"op", KEY_OP, "OP", 0, "Only this kernel", 0},
    {"sig", KEY_SIG, "SIG", 0, "Only this signature, as printed: f:ff", 0},
    {"case", KEY_CASE, "N", 0, "Only the case of this number", 0},
    {"seed", KEY_SEED, "N", 0, "Seed of the random values (default 1)", 0},
    {"large", KEY_LARGE, "N", 0, "At most N cases of several megabytes of each signature", 0},
    {"quick", KEY_QUICK, NULL, 0, "No cases of several megabytes, as --large 0", 0},
    {"sample", KEY_SAMPLE, NULL, 0, "A few small cases of each signature: for slow devices", 0},
    {"signatures", KEY_SIGNATURES, "N", 0, "At most N signatures of each kernel", 0},
    {"verbs", KEY_VERBS, NULL, 0,
     "Only the checks of the slots of the plugin interface (devices, memory, queues), not of "
     "kernels; "
     "with --op NAME one of them",
     0},
    {"layer", KEY_LAYER, "NAME", 0, "Put a layer over the backend", 0},
    {"json", KEY_JSON, NULL, 0, "Machine-readable output", 0},
    {"list", KEY_LIST, NULL, 0, "Print the kernels and the limits, check nothing", 0},
    {"timeout", KEY_TIMEOUT, "SECONDS", 0,
     "How long one case may take (default 60; 0: any time). The row of a case that takes longer "
     "fails; the third such row ends the run",
     0},
    {"limit", KEY_LIMIT, "SECONDS", 0, "How long the whole run may take (default 0: any time)", 0},
    {"in-process", KEY_IN_PROCESS, NULL, 0,
     "Run the checks in this process, for a debugger; nothing ends a call, so --timeout and --limit "
     "are not allowed",
     0},
    {0},
};

/* Parses a number of the command line; `unit`, "" or " of seconds", is for the message. */
static uint64_t number(struct argp_state *state, const char *text, uint64_t most, const char *what,
                       const char *unit)
{
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (errno || end == text || *end || text[0] == '-' || value > most)
        tool_error(state, "%s must be a whole number%s from 0 to %llu, not '%s'", what, unit,
                   (unsigned long long)most, text);
    return value;
}

static void refuse_options(struct argp_state *state, const check_options *options)
{
    if (!options->target && !options->list)
        tool_error(state, "which plugin? A file, or a name that backend-info lists");
    if (options->in_process && options->timed)
        tool_error(state, "--in-process cannot end a call: --timeout and --limit have no effect");
}

static error_t parse(int key, char *text, struct argp_state *state)
{
    check_options *options = state->input;
    switch (key) {
    case KEY_OP:
        options->op = text;
        return 0;
    case KEY_SIG:
        options->sig = text;
        return 0;
    case KEY_CASE:
        options->only = (int)number(state, text, 1000000, "--case", "");
        return 0;
    case KEY_SEED:
        options->seed = number(state, text, UINT64_MAX, "--seed", "");
        return 0;
    case KEY_TIMEOUT:
        options->timeout = (int)number(state, text, 1000000, "--timeout", " of seconds");
        options->timed = true;
        return 0;
    case KEY_LIMIT:
        options->limit = (int)number(state, text, 1000000, "--limit", " of seconds");
        options->timed = true;
        return 0;
    case KEY_LARGE:
        options->large = (int)number(state, text, 1000000, "--large", "");
        return 0;
    case KEY_QUICK:
        options->large = 0;
        return 0;
    case KEY_SIGNATURES:
        options->rows = (int)number(state, text, 1000000, "--signatures", "");
        return 0;
    case KEY_VERBS:
        options->verbs = true;
        return 0;
    case KEY_LAYER:
        options->layer = text;
        return 0;
    case KEY_SAMPLE:
        options->sample = true;
        return 0;
    case KEY_JSON:
        options->json = true;
        return 0;
    case KEY_LIST:
        options->list = true;
        return 0;
    case KEY_IN_PROCESS:
        options->in_process = true;
        return 0;
    case ARGP_KEY_ARG:
        if (options->target)
            tool_error(state, "one plugin at a time; --op=NAME checks one of its kernels");
        options->target = text;
        return 0;
    case ARGP_KEY_END:
        refuse_options(state, options);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int main(int argc, char **argv)
{
    static const struct argp parser = {
        .options = arguments,
        .parser = parse,
        .args_doc = "PLUGIN.so|NAME",
        .children = tool_short_help,
        .doc = "Run every kernel of a backend on generated shapes, dtypes, strides, overlaps and "
               "edge values and judge the results against an oracle; check its devices, memory and "
               "queues from several threads."
               "\v" TOOL_EXIT_TEXT,
    };
    check_options options = {.only = -1, .large = -1, .rows = -1, .seed = 1, .timeout = 60};
    tool_parse(&parser, argc, argv, 0, &options);
    int status = TOOL_EXIT_OK;
    if (options.list)
        check_list(&options);
    else
        status = check_supervise(&options);
    if (!tool_flush("backend-check", NULL) && status == TOOL_EXIT_OK)
        return TOOL_EXIT_FAILURE;
    return status;
}
