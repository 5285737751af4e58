/* SPDX-License-Identifier: Apache-2.0 */
/* backend-info: lists the backends of this machine. */
#include "options.h"
#include "report.h"

#include <stdio.h>
#include <string.h>

static void print_log(void *user, int32_t level, const char *text)
{
    (void)user;
    (void)level;
    fprintf(stderr, "backend-info: %s\n", text);
}

int32_t info_wanted(const info_options *options, const collet_backend_info *backend)
{
    return !options->name || !strcmp(options->name, backend->name);
}

/* A file is also known by its name: a second plugin of that name has records and no backend. */
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

/* libcore knows the nearest names: it is asked to choose the one that is not there. */
static void explain_unknown(const char *name)
{
    collet_runtime_options options = {.struct_size = sizeof options, .backend = name};
    collet_runtime *runtime = NULL;
    collet_context *context = NULL;
    collet_error err = {COLLET_OK, ""};

    if (collet_runtime_create(&runtime, &options, &err) == COLLET_OK &&
        collet_context_create(&context, runtime, &err) == COLLET_OK)
        collet_fail(&err, COLLET_INVALID, "'%s' is not the name of one backend", name);
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
            info_print_backend(only);
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
        if (!find_backend(runtime, options->name, &backend)) {
            explain_unknown(options->name);
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

    collet_runtime_options wanted = {.struct_size = sizeof wanted, .log = print_log};
    collet_runtime *runtime = NULL;
    collet_error err;
    if (collet_runtime_create(&runtime, &wanted, &err) != COLLET_OK) {
        fprintf(stderr, "backend-info: %s\n", err.text);
        return INFO_EXIT_FAILURE;
    }
    int result = print_report(runtime, &options);
    collet_runtime_destroy(runtime);
    return result;
}
