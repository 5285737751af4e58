/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_host.h - a host for tests that call the slots of a built plugin directly, without libcore.
 * Its settings are variables of the test. Include it in one file per program.
 */
#ifndef TESTS_FAKE_HOST_H
#define TESTS_FAKE_HOST_H

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <collet/plugin.h>

/* A key and the variable that holds its value; NULL: not set. */
typedef struct host_setting {
    const char *key;
    const char *const *value;
} host_setting;

static const collet_plugin *plugin;
static int32_t host_threads = 1;
static const host_setting *host_settings; /* terminated by a NULL key; NULL: none */
static char host_said[512];               /* all logged messages, cut */

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
    (void)of;
    (void)level;
    va_start(arguments, format);
    (void)vsnprintf(host_said + length, sizeof host_said - length, format, arguments);
    va_end(arguments);
}

static int32_t get_threads(const collet_host *of)
{
    (void)of;
    return host_threads;
}

static const char *get_setting(const collet_host *of, const char *key)
{
    (void)of;
    for (const host_setting *s = host_settings; s && s->key; s++)
        if (!strcmp(s->key, key))
            return *s->value;
    return NULL;
}

static const collet_host host = {.abi = COLLET_ABI,
                                 .struct_size = sizeof host,
                                 .fail = set_text,
                                 .log = keep_message,
                                 .threads = get_threads,
                                 .config = get_setting};

/* Sets `plugin` to the file's table; returns -1 on failure and prints the reason. */
static int load_plugin_file(const char *path)
{
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
