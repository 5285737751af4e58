/* SPDX-License-Identifier: Apache-2.0 */
/* The worker: loads the backend, finds its rows, runs them. */
#include "check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct worker {
    const check_options *options;
    check_shared *shared;
    collet_runtime *runtime;
    collet_context *context;
    kit_row *rows; /* as many as shared->rows */
    int pipe, messages;
    collet_op_info op; /* whose signatures are added */
} worker;

static void refuse(worker *w, int32_t phase, const char *format, ...) COLLET_PRINTF(3, 4);
static void refuse(worker *w, int32_t phase, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(w->shared->reason, sizeof w->shared->reason, format, arguments);
    va_end(arguments);
    w->shared->phase = phase;
}

static void beat(const worker *w)
{
    if (w->pipe >= 0 && write(w->pipe, "", 1) < 0)
        _exit(CHECK_FAILED);
}

/* ---- The backend --------------------------------------------------------------------------- */

static bool is_file(const char *target)
{
    size_t length = strlen(target);
    return strchr(target, '/') || (length > 3 && !strcmp(target + length - 3, ".so"));
}

/* The reason that was recorded last for a refused file. */
static const char *recorded_reason(const worker *w, const char *path)
{
    const char *reason = "it was not found";
    for (size_t i = 0; i < collet_record_count(w->runtime); i++) {
        collet_plugin_record record = {.struct_size = sizeof record};
        if (collet_record_at(w->runtime, i, &record) == COLLET_OK && !record.accepted &&
            (!path || !strcmp(record.path, path)))
            reason = record.reason;
    }
    return reason;
}

static bool find_backend(worker *w, const char *path, collet_backend_info *info)
{
    for (size_t i = 0; i < collet_backend_count(w->runtime); i++) {
        *info = (collet_backend_info){.struct_size = sizeof *info};
        if (collet_backend_info_at(w->runtime, i, info) != COLLET_OK)
            continue;
        const char *name = w->options->target;
        size_t length = strcspn(name, ":");
        char real[4096];
        if (path ? realpath(info->path, real) && !strcmp(real, path)
                 : strlen(info->name) == length && !strncmp(info->name, name, length))
            return true;
    }
    return false;
}

static void copy_text(char *target, size_t size, const char *source)
{
    size_t length = strlen(source);
    if (length >= size)
        length = size - 1;
    memmove(target, source, length);
    target[length] = '\0';
}

static void print_log(void *user, int32_t level, const char *text)
{
    const int *messages = user;
    (void)level;
    dprintf(*messages, "backend-check: %s\n", text);
}

/* The error of a context of that name lists the nearest and the available names. */
static void refuse_name(worker *w)
{
    collet_error err = {0};
    if (collet_context_create(&w->context, w->runtime, &err) != COLLET_OK)
        refuse(w, CHECK_REFUSED, "%s", err.text);
    else if (collet_set_backend(w->context, w->options->target) != COLLET_OK)
        refuse(w, CHECK_REFUSED, "%s", collet_last_error(w->context));
}

static bool open_backend(worker *w, const char *path)
{
    collet_error err = {0};
    collet_backend_info info;
    /* The backend was named: COLLET_BACKEND is ignored. */
    const char *const defaults[] = {"log=info", NULL};
    collet_runtime_options options = {.struct_size = sizeof options,
                                      .plugin_path = path,
                                      .backend = "auto",
                                      .log = print_log,
                                      .log_user = &w->messages,
                                      .defaults = defaults};
    if (collet_runtime_create(&w->runtime, &options, &err) != COLLET_OK) {
        refuse(w, CHECK_REFUSED, "%s", err.text);
        return false;
    }
    if (!find_backend(w, path, &info)) {
        if (path)
            refuse(w, CHECK_REFUSED, "%s: %s", path, recorded_reason(w, path));
        else
            refuse_name(w);
        return false;
    }
    copy_text(w->shared->backend, sizeof w->shared->backend, info.name);
    copy_text(w->shared->version, sizeof w->shared->version, info.version);
    copy_text(w->shared->path, sizeof w->shared->path, info.path);
    if (info.state == COLLET_BACKEND_UNAVAILABLE) {
        /* There are capabilities: the plugin works, its device is absent. */
        bool absent = info.device_count == 0 && info.capabilities[0];
        refuse(w, absent ? CHECK_NO_DEVICE : CHECK_REFUSED, "%s: %s", info.name, info.reason);
        return false;
    }
    if (collet_context_create(&w->context, w->runtime, &err) != COLLET_OK) {
        refuse(w, CHECK_REFUSED, "%s", err.text);
        return false;
    }
    const char *choice = path ? info.name : w->options->target;
    if (collet_set_backend(w->context, choice) != COLLET_OK) {
        refuse(w, CHECK_REFUSED, "%s", collet_last_error(w->context));
        return false;
    }
    collet_set_fallback(w->context, 0);
    return true;
}

/* ---- Rows ---------------------------------------------------------------------------------- */

static void add_row(worker *w, const collet_dtype *dtypes)
{
    check_shared *shared = w->shared;
    uint32_t count = w->op.n_out + w->op.n_in;
    kit_row row = {.info = w->op, .kit = kit_op_find(w->op.id), .operands = count};
    kit_signature_text(dtypes, w->op.n_out, count, row.sig);
    if (w->options->sig && strcmp(w->options->sig, row.sig))
        return;
    if (!collet_backend_has_kernel(w->runtime, shared->backend, w->op.id, dtypes, count) ||
        shared->row_count == CHECK_MAX_ROWS)
        return;
    memcpy(row.dtypes, dtypes, count * sizeof *dtypes);
    w->rows[shared->row_count] = row;
    check_row *line = &shared->rows[shared->row_count++];
    copy_text(line->op, sizeof line->op, w->op.name);
    copy_text(line->sig, sizeof line->sig, row.sig);
}

/* Keeps --signatures of the rows from `first` on, which are one op's. */
static void thin_rows(worker *w, int32_t first)
{
    check_shared *shared = w->shared;
    int count = shared->row_count - first;
    shared->row_count = first;
    for (int i = 0; i < count; i++) {
        if (!kit_spread(i, count, w->options->rows))
            continue;
        w->rows[shared->row_count] = w->rows[first + i];
        shared->rows[shared->row_count++] = shared->rows[first + i];
    }
}

static bool find_rows(worker *w)
{
    bool known = !w->options->op;
    w->shared->row_count = 0;
    for (size_t i = 0; i < collet_op_count(w->runtime); i++) {
        w->op = (collet_op_info){.struct_size = sizeof w->op};
        if (collet_op_at(w->runtime, i, &w->op) != COLLET_OK)
            continue;
        if (w->options->op && strcmp(w->options->op, w->op.name))
            continue;
        known = true;
        int32_t first = w->shared->row_count;
        collet_dtype dtypes[KIT_OPERANDS];
        for (size_t s = 0; collet_op_signature(w->runtime, w->op.id, s, dtypes) == COLLET_OK; s++)
            add_row(w, dtypes);
        if (w->options->rows >= 0)
            thin_rows(w, first);
    }
    if (!known)
        refuse(w, CHECK_NO_SUCH_OP, "no kernel is called '%s'; --list prints them", w->options->op);
    return known;
}

static void progress(void *user, int number, const char *text)
{
    worker *w = user;
    copy_text(w->shared->text, sizeof w->shared->text, text);
    w->shared->number = number;
    beat(w);
}

/* The row's result is complete: the supervisor may report it. */
static void conclude(check_row *line, int32_t state, const char *why)
{
    copy_text(line->why, sizeof line->why, why);
    __atomic_store_n(&line->state, state, __ATOMIC_RELEASE);
}

static void run_row(worker *w, int32_t at, int output)
{
    check_row *line = &w->shared->rows[at];
    kit_session session = {.context = w->context,
                           .backend = w->shared->backend,
                           .seed = w->options->seed,
                           .large = w->options->large,
                           .sample = w->options->sample,
                           .only = w->options->only,
                           .progress = progress,
                           .user = w,
                           .output = output};
    w->shared->number = -1;
    w->shared->row = at;
    if (!w->rows[at].kit) {
        conclude(line, CHECK_ROW_SKIP,
                 strchr(line->op, '.') ? "a vendor's own kernel: there is no oracle for it"
                                       : "this backend-check has no case for it");
        return;
    }
    kit_run_row(&session, &w->rows[at], &line->result);
    if (line->result.cases == 0)
        conclude(line, CHECK_ROW_SKIP, "no case of that number, or all were left out");
    else
        conclude(line, line->result.failures ? CHECK_ROW_FAIL : CHECK_ROW_PASS, line->result.text);
}

void check_work(const check_options *options, check_shared *shared, int32_t first, int pipe,
                int output, int messages)
{
    worker w = {.options = options, .shared = shared, .pipe = pipe, .messages = messages};
    char *path = NULL;
    w.rows = kit_memory(CHECK_MAX_ROWS * sizeof *w.rows);
    if (is_file(options->target)) {
        path = realpath(options->target, NULL);
        if (!path)
            refuse(&w, CHECK_REFUSED, "%s: there is no such file", options->target);
    }
    if ((path || !is_file(options->target)) && open_backend(&w, path) && find_rows(&w)) {
        shared->phase = CHECK_RUNNING;
        for (int32_t row = first; row < shared->row_count; row++) {
            run_row(&w, row, output);
            beat(&w);
        }
        shared->phase = CHECK_DONE;
    }
    collet_context_destroy(w.context);
    collet_runtime_destroy(w.runtime);
    free(w.rows);
    free(path);
}
