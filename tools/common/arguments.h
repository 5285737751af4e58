/* SPDX-License-Identifier: Apache-2.0 */
/* arguments.h - common parts of command lines: numbers, plugin files, -h, --version. */
#pragma once

#include "common/exit.h"

#include <argp.h>
#include <collet/types.h>
#include <stdint.h>

/* Calls argp_error; control characters in the text (from the command line) are escaped. */
void tool_error(const struct argp_state *state, const char *format, ...) COLLET_PRINTF(2, 3);

/* Parses a whole number of at least `minimum`; otherwise calls tool_error with the option `name` ("--threads"). */
int64_t tool_parse_count(struct argp_state *state, const char *name, const char *text,
                         int64_t minimum);

/* Adds the value of an option that may be repeated to `list`, which has room for `most` values and a NULL. If there are
 * too many, calls tool_error with the option. */
void tool_add_text(struct argp_state *state, const char *name, const char *text, const char **list,
                   int32_t most);

/* 1 if an argument is the file of a plugin, not the name of a backend. */
int tool_is_plugin_file(const char *text);

/* The form of results, by the name that -o has: files end in .npz, .csv, .xvg or .h5; directories of .npy
 * files end in a slash. */
typedef enum tool_form { TOOL_FORM_UNKNOWN, TOOL_FORM_FILE, TOOL_FORM_DIRECTORY } tool_form;
tool_form tool_form_of(const char *name);
#define TOOL_FORM_HINT                                                                             \
    "the ending of the name chooses the format: let it end in .npz, .csv, .xvg or .h5, or in a slash "  \
    "for a directory of .npy files"

/* Parses --threads, the number of CPU threads. */
int64_t tool_parse_threads(struct argp_state *state, const char *text);

/* Returns the text; tool_error if it is empty, for example because a variable of a script is not set. */
const char *tool_parse_name(const struct argp_state *state, const char *option, const char *text);

/* Returns the name of an output. tool_error if it is empty, or "-": output to standard output is not possible, because
 * files get their names only when they are complete. */
const char *tool_parse_output(const struct argp_state *state, const char *option, const char *name);

/* Calls argp_parse; adds --version, which prints "PROGRAM VERSION (libcore VERSION)". If standard streams
 * are closed, no other file gets their descriptors. A wrong command line, or too little memory: prints a
 * message and calls exit(TOOL_EXIT_USAGE). If help cannot be printed, prints a message and exits with 1. */
void tool_parse(const struct argp *parser, int argc, char **argv, unsigned flags, void *input);

/* Children of an argp, which add -h, the same as --help. */
extern const struct argp_child tool_short_help[];
