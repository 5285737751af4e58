/* SPDX-License-Identifier: Apache-2.0 */
/* commands.h - the commands of collet-rsoxs besides the simulation, `collet-rsoxs NAME ...`, in the
 * order of the help text. */
#pragma once

#include "common/command.h"
#include "common/exit.h"

#define RSOXS_COMMANDS(X)                                                                          \
    X(make)                                                                                        \
    X(validate)                                                                                    \
    X(view)

#define RSOXS_DECLARE(name) extern const tool_command rsoxs_##name;
RSOXS_COMMANDS(RSOXS_DECLARE)
#undef RSOXS_DECLARE
