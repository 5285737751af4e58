/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/test_bench.c */
#include "session.h"

#include "common/output.h"
#include "common/json_add.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int bench_complain(collet_status status, const char *text)
{
    tool_complain("backend-bench", text);
    return status == COLLET_DTYPE || status == COLLET_SHAPE || status == COLLET_NOT_FOUND
               ? TOOL_EXIT_USAGE
               : tool_exit_of(status);
}

int bench_out_of_memory(void)
{
    return bench_complain(COLLET_NO_MEMORY, "out of memory");
}

void bench_session_show(bench_session *s, const char *format, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    tool_progress_text(&s->progress, text);
}

const char *bench_setting(const collet_runtime *runtime, const char *key)
{
    for (size_t i = 0; i < collet_setting_count(runtime); i++) {
        collet_setting s = {.struct_size = sizeof s};
        if (collet_setting_at(runtime, &s, i, NULL) == COLLET_OK && !strcmp(s.key, key))
            return s.value;
    }
    return "";
}

int32_t bench_session_backend(const bench_session *s, const char *choice,
                              collet_backend_info *backend)
{
    size_t length = strcspn(choice, ":,");
    for (size_t i = 0; !strchr(choice, ',') && i < collet_backend_count(s->runtime); i++) {
        *backend = (collet_backend_info){.struct_size = sizeof *backend};
        if (collet_backend_info_at(s->runtime, backend, i, NULL) == COLLET_OK &&
            strlen(backend->name) == length && !strncmp(backend->name, choice, length))
            return 1;
    }
    return 0;
}

static void choose_usable(bench_session *s)
{
    for (size_t i = 0; i < collet_backend_count(s->runtime); i++) {
        collet_backend_info b = {.struct_size = sizeof b};
        if (s->choice_count < BENCH_CHOICES_MAX &&
            collet_backend_info_at(s->runtime, &b, i, NULL) == COLLET_OK &&
            b.state != COLLET_BACKEND_UNAVAILABLE)
            s->choices[s->choice_count++] = b.name;
    }
}

/* Tries each choice of backends, so that a wrong choice is reported before anything is measured. */
static collet_status choose(bench_session *s, collet_error *err)
{
    const bench_options *o = s->options;
    const char *configured = bench_setting(s->runtime, "backend");

    for (int32_t i = 0; i < o->backend_count; i++)
        s->choices[s->choice_count++] = o->backends[i];
    if (!s->choice_count && strcmp(configured, "auto"))
        s->choices[s->choice_count++] = configured;
    if (!s->choice_count)
        choose_usable(s);
    for (int32_t i = 0; i < s->choice_count; i++) {
        collet_status status = collet_set_backend(s->context, s->choices[i]);
        if (status != COLLET_OK)
            return collet_fail(err, status, "%s", collet_last_error(s->context));
    }
    return COLLET_OK;
}

static cJSON *report_begin(const bench_session *s)
{
    const bench_options *o = s->options;
    cJSON *report = cJSON_CreateObject();
    cJSON *command = NULL;
    int32_t fine = report && json_add_text(report, "tool", "backend-bench") &&
                   json_add_text(report, "collet", collet_version()) &&
                   (command = cJSON_AddArrayToObject(report, "command")) != NULL;
    fine = fine && o->command;
    for (int i = 0; fine && i < o->argc; i++) {
        cJSON *word = cJSON_CreateString(o->command[i]);
        fine = word && cJSON_AddItemToArray(command, word);
    }
    fine = fine && json_add_item(report, "host", bench_machine_json(&s->machine)) &&
           json_add_number(report, "seconds", o->seconds) &&
           json_add_text(report, "mode", o->what ? o->what : "list");
    if (fine)
        return report;
    cJSON_Delete(report);
    return NULL;
}

static collet_status context_open(bench_session *s, collet_error *err)
{
    collet_status status = collet_context_create(s->runtime, &s->context, err);
    if (status != COLLET_OK)
        return status;
    collet_set_fallback(s->context, 0); /* only the named backend may run the calls */
    return choose(s, err);
}

collet_status bench_session_open(bench_session *s, const bench_options *options,
                                 int32_t with_backends, collet_error *err)
{
    char threads[32];
    const char *settings[BENCH_DEFAULTS_MAX + 2] = {NULL}, **next = settings;
    const char *defaults[BENCH_DEFAULTS_MAX + 2] = {TOOL_LOG_LEVEL};
    collet_runtime_options runtime_options = {.struct_size = sizeof runtime_options,
                                              .log = tool_log,
                                              .log_user = &s->progress,
                                              .settings = settings,
                                              .defaults = defaults};

    *s = (bench_session){.options = options};
    memcpy(defaults + 1, options->defaults, sizeof options->defaults);
    tool_progress_begin(&s->progress, "backend-bench", "rounds", stderr, 0);
    if (options->backend_count)
        runtime_options.backend = options->backends[0];
    if (options->threads) {
        snprintf(threads, sizeof threads, "num_threads=%lld", (long long)options->threads);
        *next++ = threads;
    }
    memcpy(next, options->settings, sizeof options->settings);
    collet_status status = collet_runtime_create(&s->runtime, &runtime_options, err);
    if (status != COLLET_OK)
        return status;
    bench_machine_describe(&s->machine, atoi(bench_setting(s->runtime, "num_threads")));
    if (with_backends)
        status = context_open(s, err);
    if (status == COLLET_OK && options->json && !(s->report = report_begin(s)))
        status = collet_fail(err, COLLET_NO_MEMORY, "out of memory for the report");
    if (status != COLLET_OK)
        bench_session_close(s);
    return status;
}

void bench_session_close(bench_session *s)
{
    collet_context_destroy(s->context);
    collet_runtime_destroy(s->runtime);
    cJSON_Delete(s->report);
    *s = (bench_session){0};
}
