/* SPDX-License-Identifier: Apache-2.0 */
/* Loads the plugin as libcore does, with a host table of the kit.
 * Tests: tests/conformance/verbs/defects.sh */
#include "verbs/verbs.h"

#include <dlfcn.h>
#include <link.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static kit_target *target_of(const collet_host *host)
{
    return (kit_target *)(uintptr_t)host;
}

static void host_log(const collet_host *host, int32_t level, const char *format, ...)
{
    kit_target *t = target_of(host);
    va_list arguments;
    pthread_mutex_lock(&t->lock);
    if (level == COLLET_LOG_ERROR && !t->logged[0]) {
        va_start(arguments, format);
        vsnprintf(t->logged, sizeof t->logged, format, arguments);
        va_end(arguments);
    }
    pthread_mutex_unlock(&t->lock);
}

static void host_log_text(const collet_host *host, int32_t level, const char *text)
{
    host_log(host, level, "%s", text);
}

static int32_t host_threads(const collet_host *host)
{
    cpu_set_t set;
    (void)host;
    CPU_ZERO(&set);
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

/* Finds the runtime's value of a key; false: no manifest declares the key. */
static bool find_setting(const kit_target *t, const char *key, const char **value)
{
    for (size_t i = 0; i < collet_setting_count(t->runtime); i++) {
        collet_setting s = {.struct_size = sizeof s};
        if (collet_setting_at(t->runtime, &s, i, NULL) != COLLET_OK || strcmp(s.key, key) != 0)
            continue;
        *value = s.value && *s.value ? s.value : NULL;
        return true;
    }
    return false;
}

static const char *host_config(const collet_host *host, const char *key)
{
    const kit_target *t = target_of(host);
    const char *value = NULL;
    for (size_t i = 0; i < VERB_SETTINGS; i++)
        if (!strcmp(t->settings[i].key, key))
            return t->settings[i].value;
    if (!find_setting(t, key, &value) && strcmp(key, "in_probe") != 0)
        host_log(host, COLLET_LOG_ERROR, "it reads the setting %s, which no manifest declares",
                 key);
    return value;
}

static const void *host_extension(const collet_host *host, const char *name)
{
    static const collet_host_memory_extension memory = {sizeof memory, 0, collet_memory_limit_read};
    (void)host;
    return strcmp(name, COLLET_EXTENSION_HOST_MEMORY) ? NULL : &memory;
}

bool target_has_layers(const kit_target *t)
{
    const char *layers = NULL;
    return find_setting(t, "layers", &layers) && layers;
}

bool target_set(kit_target *t, const char *word, const char *value)
{
    const char *ignored;
    size_t i = t->settings[0].key[0] != '\0';
    char key[sizeof t->settings->key];
    snprintf(key, sizeof key, "%s.%s", t->plugin->name, word);
    if (!find_setting(t, key, &ignored))
        return false;
    memcpy(t->settings[i].key, key, sizeof key);
    snprintf(t->settings[i].value, sizeof t->settings->value, "%s", value);
    return true;
}

static int find_object(struct dl_phdr_info *info, size_t size, void *user)
{
    kit_target *t = user;
    const char *address = (const char *)t->plugin, *begin = NULL, *end = NULL;
    bool here = false;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        const char *from = (const char *)(info->dlpi_addr + p->p_vaddr), *to = from + p->p_memsz;
        if (p->p_type != PT_LOAD)
            continue;
        begin = !begin || from < begin ? from : begin;
        end = !end || to > end ? to : end;
        here = here || (address >= from && address < to);
    }
    if (here) {
        t->begin = begin;
        t->end = end;
    }
    return here;
}

static const void *symbol_of(const char *path, const char *name)
{
    /* The plugin is open already, or libcore would have refused it. */
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    const void *symbol = library ? dlsym(library, name) : NULL;
    if (library)
        dlclose(library);
    return symbol;
}

/* Puts the same layers over the plugin as libcore. libcore records the layers after the plugin, the innermost
 * first. */
static bool open_layers(kit_target *t, const char *path, char text[KIT_TEXT])
{
    collet_plugin_record r = {.struct_size = sizeof r};
    collet_layer_entry_fn entry;
    bool here = false;
    for (size_t i = 0; collet_record_at(t->runtime, &r, i, NULL) == COLLET_OK; i++) {
        if (strcmp(r.stage, "open") != 0 || !r.accepted)
            continue;
        const void *symbol = here ? symbol_of(r.path, "collet_layer_entry") : NULL;
        if (here && !symbol)
            return true;
        here = here || !strcmp(r.path, path);
        if (!symbol)
            continue;
        collet_error err = {0};
        memcpy(&entry, &symbol, sizeof entry);
        t->plugin = entry(&t->host, t->plugin, &err);
        if (!t->plugin) {
            snprintf(text, KIT_TEXT, "%s: %s", r.path, err.text);
            return false;
        }
    }
    return true;
}

static bool open_plugin(kit_target *t, const char *path, char text[KIT_TEXT])
{
    collet_plugin_entry_fn entry;
    const void *symbol = symbol_of(path, "collet_plugin_entry");
    if (!symbol) {
        snprintf(text, KIT_TEXT, "%s has no collet_plugin_entry", path);
        return false;
    }
    memcpy(&entry, &symbol, sizeof entry);
    t->plugin = entry(&t->host);
    if (!t->plugin || t->plugin != entry(&t->host)) {
        snprintf(text, KIT_TEXT,
                 "collet_plugin_entry returned a different table for another host or call");
        return false;
    }
    dl_iterate_phdr(find_object, t);
    return open_layers(t, path, text);
}

const char *target_device_name(const kit_target *t, uint32_t device)
{
    return device ? NULL : t->named;
}

kit_target *kit_target_open(const collet_runtime *runtime, const collet_backend_info *backend,
                            const char *named, char text[KIT_TEXT])
{
    kit_target *t = kit_memory(sizeof *t);
    *t = (kit_target){.host = {.abi = COLLET_ABI,
                               .struct_size = sizeof t->host,
                               .fail = collet_fail,
                               .log = host_log,
                               .threads = host_threads,
                               .config = host_config,
                               .extension = host_extension,
                               .fail_text = collet_fail_text,
                               .log_text = host_log_text},
                      .runtime = runtime,
                      .named = named,
                      .device_count = named ? 1 : backend->device_count};
    pthread_mutex_init(&t->lock, NULL);
    if (open_plugin(t, backend->path, text))
        return t;
    kit_target_close(t);
    return NULL;
}

/* Allows changes of the environment, and signal handlers outside the plugin's own code: drivers
 * make both. */
void kit_target_loaded(kit_target *t, const kit_loading *loading)
{
    kit_process now = loading->after;
    now.environment = loading->before.environment;
    for (int i = 1; i < KIT_SIGNALS; i++) {
        const char *handler = (const char *)(uintptr_t)now.actions[i].sa_handler;
        if (now.actions[i].sa_handler != SIG_IGN && now.actions[i].sa_handler != SIG_DFL &&
            (handler < t->begin || handler >= t->end))
            now.actions[i] = loading->before.actions[i];
    }
    if (kit_process_same(&loading->before, &now, 0, t->loaded))
        snprintf(t->loaded, sizeof t->loaded, "%s", loading->thread);
}

void kit_target_close(kit_target *t)
{
    if (!t)
        return;
    pthread_mutex_destroy(&t->lock);
    free(t);
}
