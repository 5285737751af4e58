/* SPDX-License-Identifier: Apache-2.0 */
/* commands.h - the commands of collet-ternary, in the order of its help. The command NAME is in NAME.c. */
#pragma once

#include "common/command.h"

#define TERNARY_COMMANDS(X)                                                                        \
    X(pack)                                                                                        \
    X(unpack)                                                                                      \
    X(info)                                                                                        \
    X(run)

/* Each command prints its summary to standard output when its output file is complete; if a command
 * fails, it has written nothing. */
#define TERNARY_DECLARE(name) extern const tool_command ternary_##name;
TERNARY_COMMANDS(TERNARY_DECLARE)
#undef TERNARY_DECLARE
