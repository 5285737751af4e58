/* SPDX-License-Identifier: Apache-2.0 */
/* arguments.h - the common parts of command lines: numbers, files of plugins, -h, --version. */
#ifndef TOOLS_COMMON_ARGUMENTS_H
#define TOOLS_COMMON_ARGUMENTS_H

#include "common/exit.h"

#include <argp.h>
#include <collet/types.h>
#include <stdint.h>

/* argp_error; what the command line has in the text is escaped. */
void tool_error(const struct argp_state *state, const char *format, ...) COLLET_PRINTF(2, 3);

/* A whole number of at least `minimum`; otherwise tool_error, which names the option `name`
 * ("--threads"). */
int64_t tool_parse_count(struct argp_state *state, const char *name, const char *text,
                         int64_t minimum);

/* Adds the value of an option that may be repeated to `list`, which has room for `most` and a NULL;
 * tool_error, which names the option, if that is too many. */
void tool_add_text(struct argp_state *state, const char *name, const char *text, const char **list,
                   int32_t most);

/* Whether an argument is the file of a plugin, not the name of a backend. */
int tool_is_plugin_file(const char *text);

/* The form of results that the name of -o says: files end in .npz, .csv, .xvg or .h5, directories of
 * .npy files in a slash. */
typedef enum tool_form { TOOL_FORM_UNKNOWN, TOOL_FORM_FILE, TOOL_FORM_DIRECTORY } tool_form;
tool_form tool_form_of(const char *name);
#define TOOL_FORM_HINT                                                                             \
    "the name says the form of the output: let it end in .npz, .csv, .xvg or .h5, or in a slash "  \
    "for a directory of .npy files"

/* A number of CPU threads, --threads. */
int64_t tool_parse_threads(struct argp_state *state, const char *text);

/* Returns the text; tool_error if it is empty, as where a script's variable is not set. */
const char *tool_parse_name(const struct argp_state *state, const char *option, const char *text);

/* The name of an output: not empty, and not "-", because files get their names when they are
 * complete. */
const char *tool_parse_output(const struct argp_state *state, const char *option, const char *name);

/* argp_parse, with --version, which prints "PROGRAM VERSION (libcore VERSION)"; keeps the numbers
 * of standard streams that are closed from other files. A wrong command line, or too little memory:
 * a message and exit(TOOL_EXIT_USAGE). Help that cannot be printed: a message and status 1. */
void tool_parse(const struct argp *parser, int argc, char **argv, unsigned flags, void *input);

/* Children of an argp, which add -h, the same as --help. */
extern const struct argp_child tool_short_help[];

#endif
