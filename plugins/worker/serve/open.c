/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the backend by the search path and the rules of libcore, and opens it. libcore's runtime
 * reads only the plugin's manifest here; it runs no code of the plugin.
 * Tests: tests/worker/test_worker.c */
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <collet/collet.h>
#include <collet/extensions.h>

#include "serve.h"

/* ---- The host -------------------------------------------------------------------------------- */

static void host_log(const collet_host *host, int32_t level, const char *format, ...)
{
    struct {
        int32_t level;
        char text[WIRE_TEXT];
    } message = {.level = level};
    va_list arguments;
    (void)host;
    va_start(arguments, format);
    if (vsnprintf(message.text, sizeof message.text, format, arguments) < 0)
        message.text[0] = '\0';
    va_end(arguments);
    /* Messages are dropped if the program does not read them. */
    (void)send(WIRE_EVENTS, &message, offsetof(__typeof__(message), text) + strlen(message.text),
               MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void host_log_text(const collet_host *host, int32_t level, const char *text)
{
    host_log(host, level, "%s", text);
}

static int32_t host_threads(const collet_host *host)
{
    return ((const server *)(const void *)host)->threads;
}

static const char *host_config(const collet_host *host, const char *key)
{
    const server *s = (const void *)host;
    for (size_t i = 0; i < collet_setting_count(s->runtime); i++) {
        collet_setting one = {.struct_size = sizeof one};
        if (collet_setting_at(s->runtime, &one, i, NULL) == COLLET_OK && !strcmp(one.key, key))
            return one.value && *one.value ? one.value : NULL;
    }
    return NULL;
}

static const void *host_extension(const collet_host *host, const char *name)
{
    static const collet_host_memory_extension memory = {sizeof memory, 0, collet_memory_limit_read};
    static const collet_host_threads_extension threads = {sizeof threads, 0, collet_thread_limit};
    (void)host;
    if (!strcmp(name, COLLET_EXTENSION_HOST_THREADS))
        return &threads;
    return strcmp(name, COLLET_EXTENSION_HOST_MEMORY) ? NULL : &memory;
}

/* ---- The backend ----------------------------------------------------------------------------- */

/* Creates a runtime with the program's settings, then `more`. Here plugin_deny is only `worker`: a worker may
 * serve a backend that the program's plugin_deny excludes. */
static collet_status create_runtime(server *s, const char *const *settings, const char *path,
                                    const char *more, collet_error *err)
{
    const char *list[24] = {"plugin_deny=worker", "layers="};
    size_t n = 2;
    collet_runtime_options options = {.struct_size = sizeof options, .settings = list};
    for (size_t i = 0; settings[i] && n < 22; i++) {
        if (!strncmp(settings[i], "plugin_path=", 12))
            options.plugin_path = settings[i] + 12;
        else if (strncmp(settings[i], "config=", 7) != 0)
            list[n++] = settings[i];
        else if (!access(settings[i] + 7, R_OK))
            options.config_file = settings[i] + 7;
    }
    options.plugin_path = path ? path : options.plugin_path;
    list[n] = more;
    return collet_runtime_create(&s->runtime, &options, err);
}

/* Finds the file of the backend's plugin; the caller frees *path. */
static collet_status find(const server *s, char **path, collet_error *err)
{
    for (size_t i = 0; i < collet_backend_count(s->runtime); i++) {
        collet_backend_info info = {.struct_size = sizeof info};
        if (collet_backend_info_at(s->runtime, &info, i, NULL) != COLLET_OK)
            continue;
        if (!strcmp(info.name, s->backend) && info.state == COLLET_BACKEND_UNAVAILABLE)
            return collet_fail(err, COLLET_UNAVAILABLE, "%s: %s", info.path, info.reason);
        if (!strcmp(info.name, s->backend)) {
            *path = strdup(info.path);
            return *path ? COLLET_OK : collet_fail(err, COLLET_NO_MEMORY, "out of memory");
        }
    }
    return collet_fail(err, COLLET_UNAVAILABLE, "there is no backend '%s'", s->backend);
}

/* Creates two runtimes, one after the other. The first finds the backend's file by the manifests alone. The second
 * loads only this file and runs its probe, because the backend reads the results of the probe. */
static collet_status prepare(server *s, const char *const *settings, char **path, collet_error *err)
{
    collet_status status = create_runtime(s, settings, NULL, "probe=off", err);
    if (status == COLLET_OK)
        status = find(s, path, err);
    collet_runtime_destroy(s->runtime);
    s->runtime = NULL;
    if (status != COLLET_OK)
        return status;
    status = create_runtime(s, settings, *path, NULL, err);
    free(*path);
    *path = NULL;
    return status == COLLET_OK ? find(s, path, err) : status;
}

static collet_status load(server *s, const char *path, collet_error *err)
{
    collet_plugin_entry_fn entry;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *symbol = library ? dlsym(library, "collet_plugin_entry") : NULL;
    if (!symbol)
        return collet_fail(err, COLLET_UNAVAILABLE, "%s: %s", path, dlerror());
    memcpy(&entry, &symbol, sizeof entry);
    s->plugin = entry(&s->host);
    if (!s->plugin || s->plugin->abi >> 16 != COLLET_ABI_MAJOR ||
        s->plugin->struct_size < offsetof(collet_plugin, extension) + sizeof s->plugin->extension ||
        s->plugin->kernel_size < sizeof(collet_kernel_row))
        return collet_fail(err, COLLET_UNAVAILABLE,
                           "%s: its table has another version of the interface", path);
    return COLLET_OK;
}

/* ---- The conversation ------------------------------------------------------------------------ */

static bool row_offered(const server *s, uint32_t i, const collet_kernel_row *row)
{
    return row->op < COLLET_OWN_OP(0) && !row->flags && !row->reserved && row->run &&
           (!s->plugin->device_supports || s->plugin->device_supports(s->device, i));
}

static const collet_kernel_row *row_at(const server *s, uint32_t i)
{
    return (const void *)((const char *)s->plugin->kernels + (size_t)i * s->plugin->kernel_size);
}

static collet_status open_device(server *s, uint32_t index, collet_error *err)
{
    s->properties = (collet_device_properties){.struct_size = sizeof s->properties};
    collet_status status =
        s->plugin->device_open(s->plugin, &s->device, &s->properties, &s->host, index, NULL, err);
    if (status != COLLET_OK)
        return status;
    s->rows = calloc(s->plugin->kernel_count + 1u, sizeof *s->rows);
    if (!s->rows)
        return collet_fail(err, COLLET_NO_MEMORY, "no memory for the rows of %s", s->backend);
    for (uint32_t i = 0; i < s->plugin->kernel_count; i++)
        if (row_offered(s, i, row_at(s, i)))
            s->rows[s->row_count++] = i;
    s->trim = s->plugin->extension ? s->plugin->extension(s->device, COLLET_EXTENSION_TRIM) : NULL;
    return COLLET_OK;
}

static bool send_rows(const server *s)
{
    wire_row rows[WIRE_ROWS];
    for (uint32_t at = 0; at < s->row_count;) {
        uint32_t n = 0;
        for (; n < WIRE_ROWS && at < s->row_count; n++, at++) {
            const collet_kernel_row *row = row_at(s, s->rows[at]);
            rows[n] = (wire_row){
                row->op, row->accepts || row->params_size < serve_params_size(row->op), row->sig};
        }
        if (wire_send(WIRE_CONTROL, rows, n * sizeof *rows, NULL, 0))
            return false;
    }
    return true;
}

static bool send_opened(const server *s, collet_status status, const collet_error *err)
{
    wire_opened opened = {.version = WIRE_VERSION,
                          .status = status,
                          .memory = s->properties.memory,
                          .order = s->properties.order,
                          .threads = s->properties.threads,
                          .max_queues = s->properties.max_queues,
                          .row_count = status == COLLET_OK ? s->row_count : 0,
                          .trims = s->trim != NULL};
    wire_text(opened.text, err->text);
    return !wire_send(WIRE_CONTROL, &opened, sizeof opened, NULL, 0) && status == COLLET_OK &&
           send_rows(s);
}

bool serve_open(server *s, const char *name, const char *const *settings)
{
    collet_error err = {COLLET_OK, ""};
    char *path = NULL;
    const char *colon = strchr(name, ':');
    size_t length = strcspn(name, ":");
    s->host = (collet_host){.abi = COLLET_ABI,
                            .struct_size = sizeof s->host,
                            .fail = collet_fail,
                            .log = host_log,
                            .threads = host_threads,
                            .config = host_config,
                            .extension = host_extension,
                            .fail_text = collet_fail_text,
                            .log_text = host_log_text};
    snprintf(s->backend, sizeof s->backend, "%.*s", (int)length, name);
    pthread_mutex_init(&s->calls, NULL);
    pthread_mutex_init(&s->lock, NULL);
    collet_status status = prepare(s, settings, &path, &err);
    if (status == COLLET_OK)
        status = load(s, path, &err);
    if (status == COLLET_OK)
        status = open_device(s, colon ? (uint32_t)strtoul(colon + 1, NULL, 10) : 0, &err);
    free(path);
    return send_opened(s, status, &err);
}
