/* SPDX-License-Identifier: Apache-2.0 */
/* session.h - a runtime with one context, and a monitor that shows progress and warnings and notes
 * signals. */
#pragma once

#include "options.h"

#include "common/progress.h"

#include <collet/ternary.h>

typedef struct ternary_session {
    collet_runtime *runtime;
    collet_context *context;
    tool_progress progress;
    collet_ternary_monitor monitor;
} ternary_session;

/* Opens a session with the backend and threads of the options. `unit` is the word for the things that the
 * progress line counts. Fails with IO if the options' output exists and must not be replaced. An invalid option ends
 * the program (ternary_refuse). */
collet_status ternary_session_open(ternary_session *session, const ternary_options *options,
                                   const char *unit, collet_error *err);
void ternary_session_close(ternary_session *session);

/* Prints the error of an option that does not fit the files or the machine, before any output was begun, and exits with 2. */
_Noreturn void ternary_refuse(const collet_error *err);

/* Prints why a command failed, or that writing to standard output failed although `output` (NULL: none) is
 * complete. Returns the exit status. */
int ternary_finish(collet_status status, const collet_error *err, const char *output);
