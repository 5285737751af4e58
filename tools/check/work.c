/* SPDX-License-Identifier: Apache-2.0 */
/* The worker: loads the backend, finds its rows, runs them.
 * Tests: tests/conformance/test_broken.c */
#include "check.h"

#include "common/arguments.h"
#include "common/progress.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHOICE_TEXT (2 * COLLET_MAX_NAME + 16)

/* A kernel row of a device, or a check of its slots. */
typedef struct worker_row {
    kit_row row;
    const kit_verb *verb; /* NULL: a kernel row */
    uint32_t device;
} worker_row;

typedef struct worker {
    const check_options *options;
    check_shared *shared;
    collet_runtime *runtime;
    collet_context *context;
    tool_progress progress;
    worker_row *rows;            /* as many as shared->rows */
    const char *named;           /* if only a device with a name is checked: its name; else NULL */
    uint32_t device, device_end; /* devices device .. device_end - 1 are checked */
    uint32_t chosen;             /* device of the context */
    kit_target *target;          /* NULL until a check of slots needs it */
    check_files files;
    char error[KIT_TEXT]; /* last message of level error since the previous row */
    kit_loading loading;
} worker;

static COLLET_PRINTF(3, 4) void refuse(worker *w, int32_t phase, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(w->shared->reason, sizeof w->shared->reason, format, arguments);
    va_end(arguments);
    w->shared->phase = phase;
}

static void beat(const worker *w)
{
    if (w->files.pipe >= 0 && write(w->files.pipe, "", 1) < 0)
        _exit(TOOL_EXIT_FAILURE);
}

/* Prints a message of the runtime. Informative messages of the search for plugins are left out: the refusal repeats
 * them. */
static void print_message(void *user, int32_t level, const char *text)
{
    worker *w = user;
    if (w->runtime || level < COLLET_LOG_INFO)
        tool_log(&w->progress, level, text);
    if (level == COLLET_LOG_ERROR)
        snprintf(w->error, sizeof w->error, "conduct: an error was logged: %s", text);
}

/* ---- The backend --------------------------------------------------------------------------- */

/* Returns the last reason that was recorded for a refused file. */
static const char *recorded_reason(const worker *w, const char *path)
{
    const char *reason = "it was not found";
    for (size_t i = 0; i < collet_record_count(w->runtime); i++) {
        collet_plugin_record record = {.struct_size = sizeof record};
        if (collet_record_at(w->runtime, &record, i, NULL) == COLLET_OK && !record.accepted &&
            (!path || !strcmp(record.path, path)))
            reason = record.reason;
    }
    return reason;
}

static bool find_backend(worker *w, const char *path, collet_backend_info *info)
{
    for (size_t i = 0; i < collet_backend_count(w->runtime); i++) {
        *info = (collet_backend_info){.struct_size = sizeof *info};
        if (collet_backend_info_at(w->runtime, info, i, NULL) != COLLET_OK)
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

/* Writes the choice of a device. If the device is chosen by its name, `device` is 0. */
static void write_choice(const worker *w, uint32_t device, char text[CHOICE_TEXT])
{
    if (w->named)
        snprintf(text, CHOICE_TEXT, "%s:%s", w->shared->backend, w->named);
    else
        snprintf(text, CHOICE_TEXT, "%s:%u", w->shared->backend, device);
}

static void copy_text(char *target, size_t size, const char *source)
{
    size_t length = strlen(source);
    if (length >= size)
        length = size - 1;
    memmove(target, source, length);
    target[length] = '\0';
}

/* Chooses the backend; the error lists the nearest and the available names. */
static bool choose_backend(worker *w, const char *name, collet_error *err)
{
    if (collet_context_create(w->runtime, &w->context, err) != COLLET_OK)
        return false;
    collet_status status = collet_set_backend(w->context, name);
    if (status == COLLET_OK)
        return true;
    collet_fail(err, status, "%s", collet_last_error(w->context));
    return false;
}

static bool open_backend(worker *w, const char *path)
{
    collet_error err = {0};
    collet_backend_info info;
    /* The command line names the backend. So `.backend` below overrides COLLET_BACKEND, and the defaults name none. */
    const char *const defaults[] = {TOOL_LOG_LEVEL, NULL};
    char layer[128] = "", searched[4200] = "";
    const char *const settings[] = {layer, NULL};
    if (w->options->layer)
        snprintf(layer, sizeof layer, "layers=%s", w->options->layer);
    /* With a layer, the usual folders are searched too ("+"), because the layer is there. */
    if (path)
        snprintf(searched, sizeof searched, "%s%s", w->options->layer ? "+" : "", path);
    collet_runtime_options options = {.struct_size = sizeof options,
                                      .plugin_path = path ? searched : NULL,
                                      .settings = w->options->layer ? settings : NULL,
                                      .backend = "auto",
                                      .log = print_message,
                                      .log_user = w,
                                      .defaults = defaults};
    if (collet_runtime_create(&w->runtime, &options, &err) != COLLET_OK) {
        refuse(w, err.status == COLLET_INVALID ? CHECK_NOTHING : CHECK_REFUSED, "%s", err.text);
        return false;
    }
    if (path && !find_backend(w, path, &info)) {
        refuse(w, CHECK_REFUSED, "%s: %s", path, recorded_reason(w, path));
        return false;
    }
    bool chosen = choose_backend(w, path ? info.name : w->options->target, &err);
    /* A backend that was not probed reports its devices when it is chosen. */
    bool found = find_backend(w, path, &info);
    const char *index = path ? NULL : strchr(w->options->target, ':');
    index = index ? index + 1 : NULL;
    bool is_number = !index || (*index && !index[strspn(index, "0123456789")]);
    if (found) {
        copy_text(w->shared->backend, sizeof w->shared->backend, info.name);
        copy_text(w->shared->version, sizeof w->shared->version, info.version);
        copy_text(w->shared->path, sizeof w->shared->path, info.path);
    }
    if (chosen) {
        w->named = is_number ? NULL : index;
        snprintf(w->shared->called, sizeof w->shared->called, "%s%s%s", w->shared->backend,
                 w->named ? ":" : "", w->named ? w->named : "");
        w->device = index && is_number ? (uint32_t)strtoul(index, NULL, 10) : 0;
        w->device_end = index ? w->device + 1 : info.device_count;
        w->chosen = w->device;
        collet_set_fallback(w->context, 0);
        return true;
    }
    if (found && is_number && info.state == COLLET_BACKEND_UNAVAILABLE)
        /* A plugin that reports capabilities works; only its device is missing. */
        refuse(w, !info.device_count && *info.capabilities ? CHECK_NO_DEVICE : CHECK_REFUSED,
               "%s: %s", info.name, info.reason);
    else if (found && index && is_number && strtoul(index, NULL, 10) >= info.device_count)
        refuse(w, CHECK_NO_DEVICE, "%s", err.text);
    else if (err.status == COLLET_UNKNOWN_BACKEND || err.status == COLLET_INVALID)
        refuse(w, CHECK_NOTHING, "%s", err.text);
    else
        refuse(w, CHECK_REFUSED, "%s", err.text);
    return false;
}

/* ---- Rows ---------------------------------------------------------------------------------- */

static void add_row(worker *w, uint32_t device, const collet_ops_info *op,
                    const collet_dtype *dtypes)
{
    check_shared *shared = w->shared;
    uint32_t count = op->n_out + op->n_in;
    kit_row row = {.info = *op, .kit = kit_op_find(op->id), .operands = count};
    char name[CHOICE_TEXT];
    write_choice(w, device, name);
    if (collet_backend_has_kernel(w->runtime, name, op->id, dtypes, count, NULL) != COLLET_OK ||
        shared->row_count == CHECK_MAX_ROWS)
        return;
    kit_signature_text(dtypes, op->n_out, count, row.sig);
    memcpy(row.dtypes, dtypes, count * sizeof *dtypes);
    w->rows[shared->row_count++] = (worker_row){.row = row, .device = device};
}

static void add_rows(worker *w, uint32_t device)
{
    collet_ops_info op = {.struct_size = sizeof op};
    for (size_t i = 0; collet_ops_at(w->runtime, &op, i, NULL) == COLLET_OK; i++) {
        collet_dtype dtypes[KIT_OPERANDS];
        if (w->options->op && strcmp(w->options->op, op.name))
            continue;
        for (size_t s = 0; collet_ops_signature(w->runtime, op.id, dtypes, s, NULL) == COLLET_OK;
             s++)
            add_row(w, device, &op, dtypes);
        for (size_t s = 0; op.id == COLLET_OP_EVALUATE && kit_evaluate_row(s, dtypes); s++)
            add_row(w, device, &op, dtypes);
    }
}

/* Keeps only the rows of --sig, and for each op at most --signatures rows. */
static void keep_rows(worker *w)
{
    check_shared *shared = w->shared;
    int32_t kept = 0, count;
    for (int32_t i = 0; i < shared->row_count; i++)
        if (!w->options->sig || !strcmp(w->options->sig, w->rows[i].row.sig))
            w->rows[kept++] = w->rows[i];
    shared->row_count = 0;
    for (int32_t first = 0; first < kept; first += count) {
        for (count = 1; first + count < kept; count++)
            if (w->rows[first + count].row.info.id != w->rows[first].row.info.id ||
                w->rows[first + count].device != w->rows[first].device)
                break;
        for (int32_t i = 0; i < count; i++)
            if (w->options->rows < 0 || kit_spread(i, count, w->options->rows))
                w->rows[shared->row_count++] = w->rows[first + i];
    }
}

/* Lists the signatures of the first `count` rows, each once. */
static void list_signatures(const worker *w, int32_t count, char text[KIT_TEXT])
{
    size_t length = 0;
    text[0] = '\0';
    for (int32_t i = 0; i < count && length < KIT_TEXT; i++) {
        int32_t same = 0;
        while (strcmp(w->rows[same].row.sig, w->rows[i].row.sig))
            same++;
        if (same == i)
            length += (size_t)snprintf(text + length, KIT_TEXT - length, " %s", w->rows[i].row.sig);
    }
}

static bool takes_verbs(const check_options *o)
{
    return o->verbs || (!o->op && !o->sig && o->only < 0 && !o->sample);
}

static bool open_target(worker *w, char text[KIT_TEXT])
{
    collet_backend_info info;
    char *path =
        tool_is_plugin_file(w->options->target) ? realpath(w->options->target, NULL) : NULL;
    if (!w->target && find_backend(w, path, &info) &&
        (w->target = kit_target_open(w->runtime, &info, w->named, text)))
        kit_target_loaded(w->target, &w->loading);
    free(path);
    return w->target != NULL;
}

/* 1 if `text` names the check: "wait.limit", or "wait" for all checks whose names begin with "wait.". */
static bool is_named(const kit_verb *verb, const char *text)
{
    const char *name = kit_verb_name(verb);
    size_t length = strlen(text);
    return !strncmp(name, text, length) && (name[length] == '\0' || name[length] == '.');
}

static void add_verbs(worker *w, uint32_t device)
{
    check_shared *shared = w->shared;
    const kit_verb *verb;
    char text[KIT_TEXT];
    uint32_t lacks = open_target(w, text) ? kit_target_lacks(w->target, device) : 0;
    for (size_t i = 0; (verb = kit_verb_at(i)) && shared->row_count < CHECK_MAX_ROWS; i++)
        if (kit_verb_applies(verb, lacks) && (!w->options->op || is_named(verb, w->options->op)))
            w->rows[shared->row_count++] = (worker_row){.verb = verb, .device = device};
}

static void find_kernels(worker *w)
{
    const check_options *o = w->options;
    const char *backend = w->shared->called;
    char sigs[KIT_TEXT];
    collet_error err;
    uint32_t id;
    for (uint32_t d = w->device; d < w->device_end; d++)
        add_rows(w, d);
    list_signatures(w, w->shared->row_count, sigs);
    if (o->op && collet_ops_find(w->runtime, &id, o->op, &err) != COLLET_OK) {
        refuse(w, CHECK_NOTHING, "--op: %s (--list prints all)", err.text);
    } else if (!w->shared->row_count) {
        refuse(w, CHECK_NOTHING, "%s has no kernel%s%s", backend, o->op ? " " : "",
               o->op ? o->op : "");
    } else {
        keep_rows(w);
        if (!w->shared->row_count && o->sig && o->op)
            refuse(w, CHECK_NOTHING, "--sig: %s has no %s with the signature '%s', only%.1200s",
                   backend, o->op, o->sig, sigs);
        else if (!w->shared->row_count && o->sig)
            refuse(w, CHECK_NOTHING,
                   "--sig: %s has no kernel with the signature '%s'; add --op to list the "
                   "signatures of a kernel",
                   backend, o->sig);
        else if (!w->shared->row_count)
            refuse(w, CHECK_NOTHING, "--signatures 0 leaves no kernel to check");
    }
}

static bool find_rows(worker *w)
{
    const check_options *o = w->options;
    w->shared->row_count = 0;
    if (!o->verbs)
        find_kernels(w);
    bool kernels = o->verbs || w->shared->row_count > 0;
    for (uint32_t d = w->device; kernels && takes_verbs(o) && d < w->device_end; d++)
        add_verbs(w, d);
    if (o->verbs && !w->shared->row_count)
        refuse(w, CHECK_NOTHING,
               "--verbs: no check '%s' applies to %s; without --op all checks run", o->op,
               w->shared->called);
    for (int32_t i = 0; i < w->shared->row_count; i++) {
        check_row *line = &w->shared->rows[i];
        const worker_row *row = &w->rows[i];
        copy_text(line->op, sizeof line->op,
                  row->verb ? kit_verb_name(row->verb) : row->row.info.name);
        copy_text(line->sig, sizeof line->sig, row->row.sig);
        line->device = (int32_t)row->device;
    }
    return w->shared->row_count > 0;
}

static void progress(void *user, int number, const char *text)
{
    worker *w = user;
    copy_text(w->shared->text, sizeof w->shared->text, text);
    w->shared->number = number;
    beat(w);
}

/* Sets the row's state. From then on the supervisor may report the row, so its result must be complete. */
static void conclude(check_row *line, int32_t state, const char *why)
{
    copy_text(line->why, sizeof line->why, why);
    __atomic_store_n(&line->state, state, __ATOMIC_RELEASE);
}

/* Runs a check of slots. False: the next row needs a new process. */
static bool run_verb(worker *w, const kit_session *session, const worker_row *row, check_row *line)
{
    char text[KIT_TEXT] = "";
    if (!open_target(w, text)) {
        line->result.failures = 1;
        conclude(line, CHECK_ROW_FAIL, text);
        return true;
    }
    bool go_on = kit_run_verb(session, row->verb, w->target, row->device, &line->result);
    conclude(line,
             line->result.failures ? CHECK_ROW_FAIL
             : line->result.cases  ? CHECK_ROW_PASS
                                   : CHECK_ROW_SKIP,
             line->result.text);
    return go_on;
}

static void choose_device(worker *w, uint32_t device)
{
    char name[CHOICE_TEXT];
    if (device == w->chosen)
        return;
    write_choice(w, device, name);
    if (collet_set_backend(w->context, name) == COLLET_OK)
        w->chosen = device;
}

/* Runs a row. False: the next row needs a new process. */
static bool run_row(worker *w, int32_t at)
{
    check_row *line = &w->shared->rows[at];
    const worker_row *row = &w->rows[at];
    kit_session session = {.context = w->context,
                           .backend = w->shared->called,
                           .seed = w->options->seed,
                           .large = w->options->large,
                           /* Other devices have the same kernels: a sample of the cases suffices. */
                           .sample = w->options->sample || row->device != w->device,
                           .named = w->options->op != NULL,
                           .only = w->options->only,
                           .progress = progress,
                           .user = w,
                           .output = w->files.output};
    w->shared->number = -1;
    w->shared->row = at;
    if (row->verb)
        return run_verb(w, &session, row, line);
    choose_device(w, row->device);
    if (!row->row.kit) {
        conclude(line, CHECK_ROW_SKIP,
                 strchr(line->op, '.') ? "a vendor's own kernel: there is no oracle for it"
                                       : "this backend-check has no case for it");
        return true;
    }
    kit_run_row(&session, &row->row, &line->result);
    if (w->error[0] && !line->result.failures++)
        copy_text(line->result.text, sizeof line->result.text, w->error);
    w->error[0] = '\0';
    if (line->result.cases == 0)
        conclude(line, CHECK_ROW_SKIP,
                 w->options->only >= 0 ? "it has no case with that number"
                                       : "all its cases are large and were left out");
    else
        conclude(line, line->result.failures ? CHECK_ROW_FAIL : CHECK_ROW_PASS, line->result.text);
    return true;
}

void check_work(const check_options *options, check_shared *shared, int32_t first,
                const check_files *files)
{
    worker w = {.options = options, .shared = shared, .files = *files};
    bool file = tool_is_plugin_file(options->target);
    char *path = NULL;
    kit_conduct thread;
    kit_verdict verdict = {0};
    kit_conduct_take(&thread, files->output);
    kit_process_take(&w.loading.before);
    tool_progress_begin(&w.progress, "backend-check", "rows", files->messages, 0);
    w.rows = kit_memory(CHECK_MAX_ROWS * sizeof *w.rows);
    if (file) {
        path = realpath(options->target, NULL);
        if (!path)
            refuse(&w, CHECK_REFUSED, "%s: no such file", options->target);
    }
    bool opened = (path || !file) && open_backend(&w, path);
    kit_process_take(&w.loading.after);
    kit_conduct_check(&thread, files->output, &verdict);
    copy_text(w.loading.thread, sizeof w.loading.thread, verdict.text);
    if (opened && find_rows(&w)) {
        shared->phase = CHECK_RUNNING;
        for (int32_t row = first; row < shared->row_count; row++) {
            bool go_on = run_row(&w, row);
            if (!go_on)
                shared->phase = CHECK_AGAIN;
            beat(&w);
            if (!go_on && files->pipe >= 0)
                _exit(0); /* threads of the check may be blocked */
        }
        shared->phase = CHECK_DONE;
    }
    tool_progress_end(&w.progress);
    kit_target_close(w.target);
    collet_context_destroy(w.context);
    collet_runtime_destroy(w.runtime);
    free(w.rows);
    free(path);
}
