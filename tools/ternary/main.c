/* SPDX-License-Identifier: Apache-2.0 */
/* collet-ternary: packs ternary weights and runs networks with them, by libcollet-ternary.
 * Tests: tests/tools/test_ternary_pack.c, tests/tools/test_ternary_errors.c */
#include "commands.h"
#include "options.h"

#include "common/arguments.h"

static const char doc[] =
    "Packs ternary weights (-1, 0, +1) into 2 bits each, shows what is in a packed file, and runs "
    "networks of packed layers.\v"
    "'collet-ternary COMMAND --help' lists the options of a command. " TERNARY_WEIGHTS_ARE
    "\n\n" TOOL_EXIT_TEXT;

#define ROW(name) &ternary_##name,
static const tool_command *const commands[] = {TERNARY_COMMANDS(ROW) NULL};
#undef ROW

static char *list_commands(int key, const char *text, void *input)
{
    (void)input;
    return tool_command_list(commands, key, text);
}

static error_t refuse(int key, char *text, struct argp_state *state)
{
    if (key != ARGP_KEY_ARG && key != ARGP_KEY_NO_ARGS)
        return ARGP_ERR_UNKNOWN;
    tool_command_refuse(commands, state, text);
    return 0;
}

int main(int argc, char **argv)
{
    static const struct argp argp = {.parser = refuse,
                                     .args_doc = "COMMAND [ARGUMENT...]",
                                     .doc = doc,
                                     .children = tool_short_help,
                                     .help_filter = list_commands};
    const tool_command *command = tool_command_find(commands, argc, argv);

    if (command)
        return tool_command_run(command, argc, argv);
    tool_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL);
    return TOOL_EXIT_USAGE;
}
