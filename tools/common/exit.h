/* SPDX-License-Identifier: Apache-2.0 */
/* exit.h - the exit statuses of every program. */
#pragma once

#include <collet/types.h>

/* Exit statuses; 128 + n if signal n stopped the program. */
enum {
    TOOL_EXIT_OK = 0,
    TOOL_EXIT_FAILURE = 1,
    TOOL_EXIT_USAGE = 2,
    TOOL_EXIT_INCOMPLETE = 3,
    TOOL_EXIT_UNAVAILABLE = 77,
};

/* Returns the exit status of a program that ends with this status. COLLET_INVALID means options or settings that are
 * wrong, or that do not fit the files. */
static inline int tool_exit_of(collet_status status)
{
    return status == COLLET_OK                ? TOOL_EXIT_OK
           : status == COLLET_UNAVAILABLE     ? TOOL_EXIT_UNAVAILABLE
           : status == COLLET_UNKNOWN_BACKEND ? TOOL_EXIT_USAGE
           : status == COLLET_INVALID         ? TOOL_EXIT_USAGE
                                              : TOOL_EXIT_FAILURE;
}

/* Like tool_exit_of, for calls after the options were checked: COLLET_INVALID then concerns the contents of files. */
static inline int tool_exit_of_files(collet_status status)
{
    return status == COLLET_INVALID ? TOOL_EXIT_FAILURE : tool_exit_of(status);
}

/* The end of every help, from which the manual pages are made; docs/tools.md has the same table. */
#define TOOL_EXIT_TEXT                                                                             \
    "Exit status: 0 success; 1 failure; 2 wrong command line; 3 incomplete: the input ends early " \
    "or is damaged, or time was up, and all before that is done; 77 the backend cannot be used "   \
    "on "                                                                                          \
    "this machine; 128 + n stopped by signal n."
