/* SPDX-License-Identifier: Apache-2.0 */
/* backend-info: lists the backends of this machine. */
#include "report.h"

#include "common/progress.h"

#include <stdio.h>
#include <string.h>

int32_t info_wanted(const info_options *options, const collet_backend_info *backend)
{
    return !options->name || !strcmp(options->name, backend->name);
}

/* Also a file NAME.so: a second plugin of that name has records and no backend. */
int32_t info_record_wanted(const collet_backend_info *backend, const collet_plugin_record *record)
{
    if (!backend || !strcmp(record->path, backend->path))
        return 1;
    const char *file = strrchr(record->path, '/');
    size_t length = strlen(backend->name);
    file = file ? file + 1 : record->path;
    return !strncmp(file, backend->name, length) && !strcmp(file + length, ".so");
}

static int32_t find_backend(const collet_runtime *runtime, const char *name,
                            collet_backend_info *backend)
{
    for (size_t i = 0; i < collet_backend_count(runtime); i++) {
        backend->struct_size = sizeof *backend;
        if (collet_backend_info_at(runtime, i, backend) == COLLET_OK &&
            !strcmp(backend->name, name))
            return 1;
    }
    return 0;
}

/* Prints libcore's error for a choice of that backend: it has the nearest names. */
static void explain_unknown(const info_options *given)
{
    char choice[256];
    snprintf(choice, sizeof choice, given->device < 0 ? "%s" : "%s:%d", given->name, given->device);
    collet_runtime_options options = {.struct_size = sizeof options, .backend = choice};
    collet_runtime *runtime = NULL;
    collet_context *context = NULL;
    collet_error err = {COLLET_OK, ""};

    if (collet_runtime_create(&runtime, &options, &err) == COLLET_OK &&
        collet_context_create(&context, runtime, &err) == COLLET_OK)
        collet_fail(&err, COLLET_INVALID, "'%s' is not the name of one backend", choice);
    fprintf(stderr, "backend-info: %s\n", err.text);
    collet_context_destroy(context);
    collet_runtime_destroy(runtime);
}

static void print_text(const collet_runtime *runtime, const info_options *options,
                       const collet_backend_info *only)
{
    int32_t sections = 0;
    if (!options->env || options->why || options->name) {
        if (only)
            info_print_backend(only, options->device);
        else
            info_list_backends(runtime);
        sections++;
    }
    if (options->why) {
        putchar('\n');
        info_list_records(runtime, only);
    }
    if (options->env) {
        if (sections)
            putchar('\n');
        info_list_settings(runtime);
    }
}

static int print_report(const collet_runtime *runtime, const info_options *options)
{
    collet_backend_info backend = {.struct_size = sizeof backend}, *only = NULL;
    if (options->name) {
        if (!find_backend(runtime, options->name, &backend) ||
            options->device >= (int64_t)backend.device_count) {
            explain_unknown(options);
            return INFO_EXIT_FAILURE;
        }
        only = &backend;
    }
    if (!options->json) {
        print_text(runtime, options, only);
    } else if (!info_print_json(runtime, options, only)) {
        fputs("backend-info: out of memory for the report\n", stderr);
        return INFO_EXIT_FAILURE;
    }
    if (ferror(stdout) || fflush(stdout)) {
        perror("backend-info: standard output");
        return INFO_EXIT_FAILURE;
    }
    return only && only->state == COLLET_BACKEND_UNAVAILABLE ? INFO_EXIT_UNAVAILABLE : INFO_EXIT_OK;
}

int main(int argc, char **argv)
{
    info_options options;
    info_options_parse(argc, argv, &options);

    tool_progress progress;
    collet_runtime_options settings = {
        .struct_size = sizeof settings, .log = tool_log, .log_user = &progress};
    collet_runtime *runtime = NULL;
    collet_error err;
    tool_progress_begin(&progress, "backend-info", stderr, 1);
    if (collet_runtime_create(&runtime, &settings, &err) != COLLET_OK) {
        fprintf(stderr, "backend-info: %s\n", err.text);
        return INFO_EXIT_FAILURE;
    }
    int result = print_report(runtime, &options);
    collet_runtime_destroy(runtime);
    return result;
}
