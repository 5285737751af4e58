/* SPDX-License-Identifier: Apache-2.0 */
/* commands.h - the commands of collet-ternary, in the order of its help: NAME is in NAME.c. */
#ifndef TOOLS_TERNARY_COMMANDS_H
#define TOOLS_TERNARY_COMMANDS_H

#include "common/command.h"

#define TERNARY_COMMANDS(X)                                                                        \
    X(pack)                                                                                        \
    X(unpack)                                                                                      \
    X(info)                                                                                        \
    X(run)

/* Each prints its summary to standard output after its output has its name; on failure nothing was
 * written. */
#define TERNARY_DECLARE(name) extern const tool_command ternary_##name;
TERNARY_COMMANDS(TERNARY_DECLARE)
#undef TERNARY_DECLARE

#endif
