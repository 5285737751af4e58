/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_select.c, tests/core/test_layers.c */
#include "registry.h"

#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "calibration.h"
#include "layers.h"
#include "open.h"
#include "plugins/capabilities.h"
#include "util/cache_directory.h"

const loader_plugin *registry_owner(const collet_runtime *r, const char *key)
{
    size_t length = strcspn(key, ".");
    for (size_t i = 0; key[length] && i < r->plugin_count; i++) {
        const char *name = r->plugins[i].name;
        if (strlen(name) == length && !memcmp(name, key, length))
            return &r->plugins[i];
    }
    return NULL;
}

/* The choice "calibrated" comes from the calibration; all other choices come from the probe. */
static const char *choice(const backend *b, const char *word)
{
    if (!strcmp(word, "calibrated"))
        return b->calibration ? b->calibration->calibrated : NULL;
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(b->choices, word));
}

const char *registry_choice(const collet_runtime *r, const char *key)
{
    const loader_plugin *owner = registry_owner(r, key);
    for (size_t i = 0; owner && i < r->backend_count; i++)
        if (r->backends[i].plugin == owner)
            return choice(&r->backends[i], strchr(key, '.') + 1);
    return NULL;
}

/* The order in which auto chooses: first proven backends, then unproven backends, then backends that
 * cannot be used or have no device; layers come last. */
static void rank(loader_plugin *p)
{
    int32_t count = 0;
    if (p->usable && p->capabilities)
        (void)capabilities_verify(p->capabilities, &count, NULL, NULL);
    p->rank = p->manifest.layer ? -1 : !p->usable ? 0 : count > 0 ? 2 : !p->capabilities;
}

static int by_preference(const void *left, const void *right)
{
    const loader_plugin *a = left, *b = right;
    if (a->rank != b->rank)
        return b->rank - a->rank;
    if (a->manifest.priority != b->manifest.priority)
        return a->manifest.priority < b->manifest.priority ? 1 : -1;
    return strcmp(a->name, b->name);
}

/* Without the cache of probes every start takes up to a second. So the reason why there is no cache is recorded, and
 * logged as a warning once per process. */
static collet_status check_cache(const collet_runtime *r, collet_error *err)
{
    static _Atomic int warned;
    char why[COLLET_ERROR_TEXT];
    const char *path = config_text(r->config, CONFIG_CACHE_DIR);
    if (!config_boolean(r->config, CONFIG_CACHE) || cache_directory_check(path, why, sizeof why))
        return COLLET_OK;
    if (!atomic_exchange(&warned, 1))
        log_message(&r->log, COLLET_LOG_WARNING, "%s", why);
    return record_add(r->records,
                      &(collet_plugin_record){
                          .path = path, .stage = "cache", .code = "cache-unusable", .reason = why},
                      err);
}

static collet_status check_settings(void *user, const loader_plugin *const *found, size_t count,
                                    collet_error *err)
{
    collet_runtime *r = user;
    return config_check_plugins(r->config, found, count, &r->log, err);
}

static collet_status scan(collet_runtime *r, collet_error *err)
{
    const config *c = r->config;
    const char *path = config_text(c, CONFIG_PLUGIN_PATH),
               *deny = config_text(c, CONFIG_PLUGIN_DENY);
    const char *cache = config_cache_directory(c);
    int from_program = config_from_program(c, CONFIG_PLUGIN_PATH);
    int64_t timeout = config_integer(c, CONFIG_PROBE_TIMEOUT);
    loader_options options = {.program_path = from_program && *path ? path : NULL,
                              .environment_path = !from_program && *path ? path : NULL,
                              .deny = *deny ? deny : NULL,
                              .trust_group = config_text(c, CONFIG_TRUST_GROUP),
                              .cache_directory = *cache ? cache : NULL,
                              .settings = config_plugin_settings(c),
                              .examined = check_settings,
                              .user = r,
                              .probe = config_boolean(c, CONFIG_PROBE),
                              .timeout_ms = timeout ? 1000 * timeout : INT64_MAX / 2,
                              .host = &r->host};
    return loader_scan(&options, r->records, &r->plugins, &r->plugin_count, err);
}

collet_status registry_create(collet_runtime *r, collet_error *err)
{
    collet_status status = scan(r, err);
    if (status != COLLET_OK)
        return status;
    for (size_t i = 0; i < r->plugin_count; i++)
        rank(&r->plugins[i]);
    if (r->plugin_count)
        qsort(r->plugins, r->plugin_count, sizeof *r->plugins, by_preference);
    status = layers_choose(r, err);
    if (status != COLLET_OK)
        return status;
    r->backends = calloc(r->plugin_count + 1, sizeof *r->backends);
    if (!r->backends)
        return collet_fail(err, COLLET_NO_MEMORY, "out of memory for the list of backends");
    for (size_t i = 0; i < r->plugin_count && r->plugins[i].rank >= 0; i++) {
        backend *b = &r->backends[i];
        const loader_plugin *p = &r->plugins[i];
        b->runtime = r;
        b->plugin = p;
        pthread_mutex_init(&b->lock, NULL);
        r->backend_count = i + 1;
        atomic_store(&b->state, !p->usable        ? COLLET_BACKEND_UNAVAILABLE
                                : p->capabilities ? COLLET_BACKEND_USABLE
                                                  : COLLET_BACKEND_UNPROVEN);
        if (p->usable && p->capabilities)
            status = backend_describe(b, p->capabilities, err);
        if (status != COLLET_OK)
            return status;
        b->choices = cJSON_GetObjectItemCaseSensitive(b->description, "choices");
        if (b->device_count)
            status = calibration_read(b, err);
        if (status != COLLET_OK)
            return status;
    }
    status = calibration_compare(r, err);
    return status == COLLET_OK ? check_cache(r, err) : status;
}

static void device_destroy(device *d)
{
    device_close(d);
    pthread_mutex_destroy(&d->retired_lock);
    pthread_mutex_destroy(&d->calls);
    free(d->reason);
}

void registry_destroy(collet_runtime *r)
{
    for (size_t i = 0; i < r->backend_count; i++) {
        backend *b = &r->backends[i];
        for (uint32_t k = 0; k < b->device_count; k++)
            device_destroy(&b->devices[k]);
        for (device *d = b->named, *next; d; d = next) {
            next = d->next_named;
            device_destroy(d);
            free(d);
        }
        free(b->devices);
        free(b->own_ops);
        free(b->reason);
        free(b->capabilities);
        calibration_free(b->calibration);
        cJSON_Delete(b->description);
        pthread_mutex_destroy(&b->lock);
    }
    for (uint32_t i = 0; i < atomic_load(&r->own_op_count); i++)
        for (op *o = r->own_ops[i], *before; o; o = before) {
            before = o->replaced;
            free(o);
        }
    free(r->backends);
    free(r->layers);
    free(r->crossovers);
    loader_plugins_free(r->plugins, r->plugin_count);
    r->backends = NULL;
    r->plugins = NULL;
    r->backend_count = r->plugin_count = 0;
}

backend *registry_find(const collet_runtime *r, const char *name)
{
    for (size_t i = 0; i < r->backend_count; i++)
        if (!strcmp(r->backends[i].plugin->name, name))
            return &r->backends[i];
    return NULL;
}
