/* SPDX-License-Identifier: Apache-2.0 */
/* What all modes of backend-bench share: options, machine, runtime, context, and the report. */
#pragma once

#include "machine.h"
#include "common/progress.h"
#include "options.h"

#include <cjson/cJSON.h>
#include <collet/collet.h>

#define BENCH_CHOICES_MAX 64

typedef struct bench_session {
    const bench_options *options;
    bench_machine machine;
    collet_runtime *runtime;
    collet_context *context;
    const char *choices[BENCH_CHOICES_MAX]; /* choices of backends: one row of the report for each */
    int32_t choice_count;
    cJSON *report; /* with --json; else NULL */
    tool_progress progress;
} bench_session;

/*
 * Opens the runtime and chooses the backends to measure: the list of --backend, else the choice of
 * COLLET_BACKEND or the configuration file, else every usable backend. With with_backends = 0 it is not an error if
 * there is no backend. Fails with UNKNOWN_BACKEND, UNAVAILABLE and the errors of collet_runtime_create; after an
 * error the session is closed.
 */
collet_status bench_session_open(bench_session *s, const bench_options *options,
                                 int32_t with_backends, collet_error *err);
void bench_session_close(bench_session *s);

/* Sets *backend to the backend of a choice such as "cuda:1"; 0 if there is none. */
int32_t bench_session_backend(const bench_session *s, const char *choice,
                              collet_backend_info *backend);

/* Shows on standard error what is being measured (tool_progress_text). Before the caller prints other
 * text, it must call tool_progress_end. */
void bench_session_show(bench_session *s, const char *format, ...) COLLET_PRINTF(2, 3);

/* Returns the value of a setting of the runtime; "" if it is not set. */
const char *bench_setting(const collet_runtime *runtime, const char *key);

/* Prints "backend-bench: text" on standard error; returns the exit status for `status`. */
int bench_complain(collet_status status, const char *text);
int bench_out_of_memory(void);
