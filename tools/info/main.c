/* SPDX-License-Identifier: Apache-2.0 */
/* backend-info: lists the backends of this machine.
 * Tests: tests/tools/test_info.c */
#include "info.h"

#include "common/output.h"
#include "common/progress.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int32_t find_backend(const collet_runtime *runtime, const info_options *options,
                            collet_backend_info *backend)
{
    for (size_t i = 0; i < collet_backend_count(runtime); i++) {
        backend->struct_size = sizeof *backend;
        if (collet_backend_info_at(runtime, backend, i, NULL) == COLLET_OK &&
            info_requests(options, backend))
            return 1;
    }
    return 0;
}

/* Returns the number of ops that a device has. */
static uint32_t count_kernels(const collet_runtime *runtime, const char *choice)
{
    static const collet_dtype any[COLLET_MAX_OPERANDS] = {COLLET_DTYPE_NONE};
    collet_ops_info op = {.struct_size = sizeof op};
    uint32_t count = 0;
    for (size_t i = 0; collet_ops_at(runtime, &op, i, NULL) == COLLET_OK; i++)
        count += collet_backend_has_kernel(runtime, choice, op.id, any, op.n_out + op.n_in, NULL) ==
                 COLLET_OK;
    return count;
}

/* Chooses a device as programs do. On success sets *kernels to the number of its ops. Otherwise prints libcore's
 * error, which contains the nearest names. */
static collet_status try_choice(const info_options *given, const char *name, uint32_t *kernels)
{
    char choice[256];
    if (given->named)
        snprintf(choice, sizeof choice, "%s:%s", name, given->named);
    else
        snprintf(choice, sizeof choice, given->device < 0 ? "%s" : "%s:%d", name, given->device);
    collet_runtime_options options = {.struct_size = sizeof options,
                                      .backend = choice,
                                      .defaults = given->defaults,
                                      .plugin_path = given->file ? given->name : NULL};
    collet_runtime *runtime = NULL;
    collet_context *context = NULL;
    collet_error err = {COLLET_OK, ""};

    collet_status status = collet_runtime_create(&runtime, &options, &err);
    if (status == COLLET_OK)
        status = collet_context_create(runtime, &context, &err);
    if (status == COLLET_OK)
        *kernels = count_kernels(runtime, choice);
    else
        tool_complain("backend-info", err.text);
    collet_context_destroy(context);
    collet_runtime_destroy(runtime);
    return status;
}

/* Opens every device of the usable backends, so that the records show which devices are refused. */
static void open_devices(const collet_runtime *runtime, const collet_backend_info *only)
{
    static const collet_dtype any[] = {COLLET_DTYPE_NONE};
    for (size_t i = 0; i < collet_backend_count(runtime); i++) {
        collet_backend_info b = {.struct_size = sizeof b};
        if (collet_backend_info_at(runtime, &b, i, NULL) != COLLET_OK ||
            b.state != COLLET_BACKEND_USABLE || (only && strcmp(b.name, only->name) != 0))
            continue;
        for (uint32_t k = 0; k < b.device_count; k++) {
            char device[COLLET_MAX_NAME + 16];
            snprintf(device, sizeof device, "%s:%u", b.name, k);
            (void)collet_backend_has_kernel(runtime, device, COLLET_OP_COPY, any, 1, NULL);
        }
    }
}

/* Prints the report as text. Returns 0 if it lists the backends and none is selected. */
static int32_t print_text(collet_runtime *runtime, const info_options *options,
                          const collet_backend_info *only)
{
    int32_t sections = 0, has_selected = 1;
    if (!options->env || options->why || options->name) {
        if (only)
            info_print_backend(only, options);
        else
            has_selected = info_list_backends(runtime, options);
        sections++;
    }
    if (options->why) {
        putchar('\n');
        if (!only)
            info_list_calibrations(runtime);
        info_list_records(runtime, only);
    }
    if (options->env) {
        if (sections)
            putchar('\n');
        info_list_settings(runtime);
    }
    return has_selected;
}

static int not_one(const info_options *options)
{
    fprintf(stderr, "backend-info: '%s' is not the name of one backend\n",
            tool_shown(options->name));
    return TOOL_EXIT_USAGE;
}

/* Prints the steps for files that did not give a backend, if the command line requests these files. */
static int explain_refused(const collet_runtime *runtime, const info_options *options)
{
    collet_plugin_record r, last = {.path = NULL};
    for (size_t i = 0; i < collet_record_count(runtime); i++) {
        r = (collet_plugin_record){.struct_size = sizeof r};
        if (collet_record_at(runtime, &r, i, NULL) == COLLET_OK && !r.accepted &&
            (options->file ? !strcmp(r.path, options->name) : info_is_file(r.path, options->name)))
            last = r;
    }
    if (!last.path)
        return 0;
    fprintf(stderr, "backend-info: %s is refused: %s\n", tool_shown(last.path), last.reason);
    if (options->why && !options->json) {
        info_list_file(runtime, last.path);
        tool_flush("backend-info", NULL);
    }
    return 1;
}

/* Finds the backend of options->name; otherwise prints a message. Returns the exit status. */
static int find_wanted(const collet_runtime *runtime, info_options *options,
                       collet_backend_info *backend)
{
    uint32_t kernels = 0;
    int32_t found = find_backend(runtime, options, backend);
    if (!found && explain_refused(runtime, options))
        return TOOL_EXIT_UNAVAILABLE;
    if (!found && options->file) {
        fprintf(stderr, "backend-info: %s is not the file of a plugin\n",
                tool_shown(options->name));
        return TOOL_EXIT_FAILURE;
    }
    if (found && !options->named && options->device < (int64_t)backend->device_count)
        return TOOL_EXIT_OK;
    collet_status status = try_choice(options, found ? backend->name : options->name, &kernels);
    if (status != COLLET_OK)
        return tool_exit_of(status);
    if (!found || !options->named)
        return not_one(options);
    options->named_kernels = kernels;
    backend->state = COLLET_BACKEND_USABLE;
    backend->reason = "";
    backend->device_count = 1;
    return TOOL_EXIT_OK;
}

/* Prints the JSON report, or writes it to the file of -o. */
static int32_t put_json(const collet_runtime *runtime, const info_options *options,
                        const collet_backend_info *only, const char *path)
{
    cJSON *report = info_json(runtime, options, only);
    collet_error err;
    int32_t fine =
        path ? tool_write_json(report, path, options->force, &err) : tool_print_json(report);
    if (!report || (!fine && !path))
        fputs("backend-info: out of memory for the report\n", stderr);
    else if (!fine)
        fprintf(stderr, "backend-info: -o: %s\n", err.text);
    cJSON_Delete(report);
    return fine;
}

/* Returns 1 if a usable backend has a GPU; otherwise prints an error message and returns 0. */
static int32_t has_gpu(const collet_runtime *runtime)
{
    for (size_t i = 0; i < collet_backend_count(runtime); i++) {
        collet_device_info d = {.struct_size = sizeof d};
        for (uint32_t k = 0; collet_device_info_at(runtime, &d, i, k, NULL) == COLLET_OK; k++)
            if (d.kind == COLLET_DEVICE_GPU)
                return 1;
    }
    fputs("backend-info: no usable backend has a GPU; --doctor lists what is missing\n", stderr);
    return 0;
}

static int print_report(collet_runtime *runtime, info_options *options)
{
    collet_backend_info backend = {.struct_size = sizeof backend}, *only = NULL;
    int32_t usable = 1;
    if (options->name) {
        int status = find_wanted(runtime, options, &backend);
        if (status != TOOL_EXIT_OK)
            return status;
        only = &backend;
        usable = backend.state != COLLET_BACKEND_UNAVAILABLE;
    }
    if (options->why)
        open_devices(runtime, only);
    if (!options->json) {
        usable &= print_text(runtime, options, only);
    } else if (!put_json(runtime, options, only, NULL)) {
        return TOOL_EXIT_FAILURE;
    } else if (!only && (!options->env || options->why)) {
        usable = info_has_selected(runtime);
    }
    if (options->output && !put_json(runtime, options, only, options->output))
        return TOOL_EXIT_FAILURE;
    return usable ? TOOL_EXIT_OK : TOOL_EXIT_UNAVAILABLE;
}

int main(int argc, char **argv)
{
    info_options options;
    info_options_parse(argc, argv, &options);

    char *path = options.file ? realpath(options.name, NULL) : NULL;
    if (options.file && !path) {
        fprintf(stderr, "backend-info: %s: %s\n", tool_shown(options.name), strerror(errno));
        return TOOL_EXIT_FAILURE;
    }
    if (path)
        options.name = path;

    tool_progress progress;
    collet_runtime_options settings = {.struct_size = sizeof settings,
                                       .log = tool_log,
                                       .log_user = &progress,
                                       .defaults = options.defaults,
                                       .plugin_path = path};
    collet_runtime *runtime = NULL;
    collet_error err;
    tool_progress_begin(&progress, "backend-info", "backends", stderr, 1);
    collet_status status = collet_runtime_create(&runtime, &settings, &err);
    if (status != COLLET_OK) {
        tool_complain("backend-info", err.text);
        free(path);
        return tool_exit_of(status);
    }
    int result = options.doctor    ? info_doctor(runtime, &options)
                 : options.explain ? info_explain(runtime, &options)
                                   : print_report(runtime, &options);
    if (!tool_flush("backend-info", NULL) || (options.gpu && !has_gpu(runtime)))
        result = TOOL_EXIT_FAILURE;
    collet_runtime_destroy(runtime);
    free(path);
    return result;
}
