/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/test_ternary_errors.c, tests/tools/control_characters.sh */
#include "command.h"

#include "common/arguments.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const tool_command *tool_command_find(const tool_command *const *commands, int argc, char **argv)
{
    if (argc < 2)
        return NULL;
    while (*commands && strcmp((*commands)->name, argv[1]) != 0)
        commands++;
    return *commands;
}

int tool_command_run(const tool_command *self, int argc, char **argv)
{
    char program[64];

    snprintf(program, sizeof program, "%s %s", program_invocation_short_name, self->name);
    argv[1] = program;
    return self->run(self, argc - 1, argv + 1);
}

/* Appends the two texts, formatted by `format`, to a list. Returns NULL if out of memory, or if `list` is NULL. */
static char *append(char *list, const char *format, const char *first, const char *second)
{
    char *more = NULL;

    if (list && asprintf(&more, format, list, first, second) < 0)
        more = NULL;
    free(list);
    return more;
}

char *tool_command_list(const tool_command *const *commands, int key, const char *text)
{
    if (key != ARGP_KEY_HELP_POST_DOC)
        return (char *)text;
    char *list = strdup("Commands:\n");
    for (; *commands; commands++)
        list = append(list, "%s  %-10s %s\n", (*commands)->name, (*commands)->summary);
    list = append(list, "%s\n%s%s", text, "");
    return list ? list : (char *)text;
}

void tool_command_refuse(const tool_command *const *commands, const struct argp_state *state,
                         const char *text)
{
    char *names = strdup("");
    for (; *commands; commands++)
        names = append(names, "%s%s%s", (*commands)->name,
                       !commands[1]   ? ""
                       : !commands[2] ? " and "
                                      : ", ");
    if (text)
        tool_error(state, "'%s' is not a command; %s are", text, names ? names : "others");
    else
        tool_error(state, "a command is required: %s", names ? names : "see --help");
    free(names);
}
