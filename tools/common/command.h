/* SPDX-License-Identifier: Apache-2.0 */
/* command.h - the commands of a program, `PROGRAM NAME ...`. Each is a tool_command in the source file of
 * its function. */
#pragma once

#include <argp.h>

typedef struct tool_command {
    const char *name;
    const char *summary; /* its line in the program's help: begins with a verb, no full stop */
    struct argp argp;    /* options, arguments and text of `PROGRAM NAME --help` */
    /* Runs the command; argv[0] is "PROGRAM NAME". Returns the exit status. */
    int (*run)(const struct tool_command *self, int argc, char **argv);
} tool_command;

/* Returns the command in `commands`, a list ended by NULL, that argv[1] names; NULL if it names no command. */
const tool_command *tool_command_find(const tool_command *const *commands, int argc, char **argv);

/* Runs `self`, the command that argv[1] names; returns the exit status. */
int tool_command_run(const tool_command *self, int argc, char **argv);

/* For the help_filter of the program's argp: inserts the list of commands before the text that follows the options.
 * Returns a copy for free(), or `text`. */
char *tool_command_list(const tool_command *const *commands, int key, const char *text);

/* Prints "'TEXT' is not a command; NAME, NAME and NAME are" and ends the program. text = NULL: the command
 * is missing. */
void tool_command_refuse(const tool_command *const *commands, const struct argp_state *state,
                         const char *text);
