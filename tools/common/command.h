/* SPDX-License-Identifier: Apache-2.0 */
/* command.h - a command of a program, `PROGRAM NAME ...`: one row, in the file of its function. */
#ifndef TOOLS_COMMON_COMMAND_H
#define TOOLS_COMMON_COMMAND_H

#include <argp.h>

typedef struct tool_command {
    const char *name;
    const char *summary; /* its line in the program's help, a verb and no full stop */
    struct argp argp;    /* options, arguments and text of `PROGRAM NAME --help` */
    /* Gets its own row, and argv[0] "PROGRAM NAME"; returns the exit status. */
    int (*run)(const struct tool_command *self, int argc, char **argv);
} tool_command;

/* The command that argv[1] names, among `commands`, which NULL ends; NULL if it names none. */
const tool_command *tool_command_find(const tool_command *const *commands, int argc, char **argv);

/* Runs the command that argv[1] names; returns the exit status. */
int tool_command_run(const tool_command *self, int argc, char **argv);

/* Lists the commands before the text that follows the options; called by the help_filter of the
 * program's argp. Returns a copy for free(), or `text`. */
char *tool_command_list(const tool_command *const *commands, int key, const char *text);

/* Prints "'TEXT' is not a command; NAME, NAME and NAME are" and ends the program; NULL: there is no
 * command. */
void tool_command_refuse(const tool_command *const *commands, const struct argp_state *state,
                         const char *text);

#endif
