/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/test_ternary_pack.c, tests/tools/test_ternary_errors.c */
#include "session.h"

#include "common/exit.h"
#include "common/interrupt.h"
#include "common/output.h"
#include "io/spool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int32_t note_progress(void *user, const collet_progress *progress)
{
    tool_progress_update(user, progress->done, 0, progress->fraction);
    return tool_interrupt_signal();
}

static void note_warning(void *user, const char *warning)
{
    char text[COLLET_ERROR_TEXT + 16];

    snprintf(text, sizeof text, "warning: %s", warning);
    tool_log(user, COLLET_LOG_WARNING, text);
}

void ternary_refuse(const collet_error *err)
{
    tool_complain("collet-ternary", err->text);
    exit(TOOL_EXIT_USAGE);
}

collet_status ternary_session_open(ternary_session *session, const ternary_options *options,
                                   const char *unit, collet_error *err)
{
    char text[48];
    const char *settings[] = {text, NULL}, *const defaults[] = {TOOL_LOG_LEVEL, NULL};
    collet_runtime_options requested = {.struct_size = sizeof requested,
                                        .backend = options->backend,
                                        .log = tool_log,
                                        .log_user = &session->progress,
                                        .defaults = defaults};

    memset(session, 0, sizeof *session);
    tool_progress_begin(&session->progress, "collet-ternary", unit, stderr, options->quiet);
    session->monitor = (collet_ternary_monitor){.struct_size = sizeof session->monitor,
                                                .progress = note_progress,
                                                .user = &session->progress,
                                                .warn = note_warning};
    snprintf(text, sizeof text, "num_threads=%lld", (long long)options->threads);
    if (options->threads > 0)
        requested.settings = settings;
    collet_status status =
        options->output ? io_spool_check_output(options->output, options->force, err) : COLLET_OK;
    if (status == COLLET_OK)
        status = collet_runtime_create(&session->runtime, &requested, err);
    if (status == COLLET_OK)
        status = collet_context_create(session->runtime, &session->context, err);
    if (status == COLLET_INVALID)
        ternary_refuse(err);
    return status;
}

void ternary_session_close(ternary_session *session)
{
    tool_progress_end(&session->progress);
    collet_context_destroy(session->context);
    collet_runtime_destroy(session->runtime);
    memset(session, 0, sizeof *session);
}

int ternary_finish(collet_status status, const collet_error *err, const char *output)
{
    int signal_number = tool_interrupt_signal();

    tool_interrupt_report();
    if (status == COLLET_OK)
        return !tool_flush("collet-ternary", output ? "the output is complete" : NULL);
    if (status != COLLET_CANCELLED || signal_number == 0) {
        tool_complain("collet-ternary", err->text);
        return tool_exit_of_files(status);
    }
    fprintf(stderr, "collet-ternary: %s; nothing was written\n", strsignal(signal_number));
    return 128 + signal_number;
}
