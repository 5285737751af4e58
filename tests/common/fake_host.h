/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_host.h - a host for tests that call the slots of a built plugin directly, without libcore.
 * The values of settings come from variables of the test, else from the defaults of the plugin's
 * manifest. The program ends if the plugin reads a key that its manifest does not declare. Include
 * this header in one file per program.
 */
#ifndef TESTS_COMMON_FAKE_HOST_H
#define TESTS_COMMON_FAKE_HOST_H

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <collet/collet.h>
#include <collet/extensions.h>

/* A key and the variable that holds its value; NULL: not set. */
typedef struct host_setting {
    const char *key;
    const char *const *value;
} host_setting;

static const collet_plugin *plugin;
static collet_runtime *host_declared; /* has the plugin's manifest */
static int32_t host_threads = 1;
static const host_setting *host_settings; /* terminated by a NULL key; NULL: none */
static char host_said[512];               /* all logged messages, truncated to this size */

static collet_status set_text(collet_error *err, collet_status status, const char *format, ...)
{
    va_list arguments;
    if (!err)
        return status;
    va_start(arguments, format);
    err->status = status;
    (void)vsnprintf(err->text, sizeof err->text, format, arguments);
    va_end(arguments);
    return status;
}

static void keep_message(const collet_host *of, int32_t level, const char *format, ...)
{
    size_t length = strlen(host_said);
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(host_said + length, sizeof host_said - length, format, arguments);
    va_end(arguments);
}

static collet_status set_plain_text(collet_error *err, collet_status status, const char *text)
{
    return set_text(err, status, "%s", text);
}

static void keep_text(const collet_host *of, int32_t level, const char *text)
{
    keep_message(of, level, "%s", text);
}

static int32_t get_threads(const collet_host *of)
{
    return host_threads;
}

static const char *get_default(const char *key)
{
    for (size_t i = 0; i < collet_setting_count(host_declared); i++) {
        collet_setting s = {.struct_size = sizeof s};
        if (collet_setting_at(host_declared, &s, i, NULL) == COLLET_OK && !strcmp(s.key, key))
            return s.value[0] ? s.value : NULL;
    }
    print_error("the manifest does not declare the setting %s\n", key);
    abort();
}

static const char *get_setting(const collet_host *of, const char *key)
{
    const char *value = strchr(key, '.') ? get_default(key) : NULL;
    for (const host_setting *s = host_settings; s && s->key; s++)
        if (!strcmp(s->key, key) && *s->value)
            return *s->value;
    return value;
}

static const void *no_extension(const collet_host *of, const char *name)
{
    return NULL;
}

static const collet_host host = {.abi = COLLET_ABI,
                                 .struct_size = sizeof host,
                                 .fail = set_text,
                                 .log = keep_message,
                                 .threads = get_threads,
                                 .config = get_setting,
                                 .extension = no_extension,
                                 .fail_text = set_plain_text,
                                 .log_text = keep_text};

static inline collet_status host_open(uint32_t index, collet_device **device, collet_error *err)
{
    collet_device_properties properties = {.struct_size = sizeof properties};
    return plugin->device_open(plugin, device, &properties, &host, index, NULL, err);
}

/* Calls `accepts` as libcore does: before any operand has a buffer. */
static inline collet_status host_ask(const collet_kernel_row *row, collet_device *device,
                                     const collet_kernel_call *call, uint64_t *workspace_bytes)
{
    collet_operand operands[COLLET_MAX_OPERANDS] = {{0}};
    collet_kernel_call asked = *call;
    *workspace_bytes = 0;
    for (int i = 0; call->sig >> i * COLLET_SIG_BITS; i++) {
        operands[i] = call->operands[i];
        operands[i].buffer = NULL;
    }
    asked.operands = operands;
    return row->accepts ? row->accepts(device, &asked, workspace_bytes) : COLLET_OK;
}

static int read_manifest(const char *path)
{
    static const char *const settings[] = {"probe=off", "cache=off", NULL};
    collet_runtime_options options = {
        .struct_size = sizeof options, .plugin_path = path, .settings = settings};
    collet_error wrong;
    if (collet_runtime_create(&host_declared, &options, &wrong) == COLLET_OK)
        return 0;
    print_error("%s\n", wrong.text);
    return -1;
}

static inline void trim(collet_device *device)
{
    const collet_trim_extension *e = plugin->extension(device, COLLET_EXTENSION_TRIM);
    e->trim(device);
}

/* Sets `plugin` to the file's table; returns -1 on failure and prints the reason. */
static int load_plugin_file(const char *path)
{
    if (read_manifest(path))
        return -1;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *symbol = library ? dlsym(library, "collet_plugin_entry") : NULL;
    collet_plugin_entry_fn entry;
    if (!symbol) {
        print_error("%s\n", dlerror());
        return -1;
    }
    memcpy(&entry, &symbol, sizeof entry);
    plugin = entry(&host);
    return plugin ? 0 : -1;
}

#endif
