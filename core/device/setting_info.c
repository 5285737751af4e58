/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_config.c, tests/tools/test_info.c */
#include "setting_info.h"

#include "plugins/record.h"
#include "registry.h"
#include "util/struct.h"

const char *setting_value(const collet_runtime *r, const char *key, const char **source)
{
    const char *value = config_find(r->config, key, source);
    const loader_plugin *p = value ? NULL : registry_owner(r, key);
    if (p) {
        value = registry_choice(r, key);
        *source = "probe";
    }
    if (p && !value) {
        const setting *s = manifest_setting(&p->manifest, key);
        value = s && *s->fallback ? s->fallback : NULL;
        *source = "default";
    }
    return value;
}

size_t collet_setting_count(const collet_runtime *r)
{
    PROGRAM_CALL(0, NULL, r);
    size_t count = config_count();
    for (size_t i = 0; i < r->plugin_count; i++)
        count += r->plugins[i].manifest.setting_count;
    return count;
}

/* Settings of libcore, then of the backends in their order, then of the layers. */
static const setting *setting_at(const collet_runtime *r, size_t index)
{
    if (index < config_count())
        return config_setting(index);
    index -= config_count();
    for (size_t i = 0; i < r->plugin_count; i++) {
        const manifest *m = &r->plugins[i].manifest;
        if (index < m->setting_count)
            return &m->settings[index];
        index -= m->setting_count;
    }
    return NULL;
}

collet_status collet_setting_at(const collet_runtime *r, collet_setting *target, size_t index,
                                collet_error *err)
{
    PROGRAM_CALL(COLLET_INVALID, err, r);
    const char *source = "default";
    collet_status status = runtime_query(r, target, "collet_setting_at", err);
    if (status != COLLET_OK)
        return status;
    const setting *s = setting_at(r, index);
    if (!s)
        return runtime_beyond(index, collet_setting_count(r), "setting", err);
    const char *value = setting_value(r, s->key, &source);
    collet_setting full = {.key = s->key,
                           .environment = s->environment,
                           .type = s->type,
                           .fallback = s->fallback,
                           .value = value ? value : "",
                           .source = source,
                           .help = s->help,
                           .values = s->values};
    return struct_out(target, &full, sizeof full, "collet_setting", err);
}

size_t collet_record_count(const collet_runtime *r)
{
    PROGRAM_CALL(0, NULL, r);
    return runtime_alive(r) ? record_count(r->records)
                            : 0; /* after fork the lock may stay locked */
}

collet_status collet_record_at(const collet_runtime *r, collet_plugin_record *record, size_t index,
                               collet_error *err)
{
    PROGRAM_CALL(COLLET_INVALID, err, r);
    collet_status status = runtime_query(r, record, "collet_record_at", err);
    if (status != COLLET_OK)
        return status;
    const collet_plugin_record *entry = record_at(r->records, index);
    return entry ? struct_out(record, entry, sizeof *entry, "collet_plugin_record", err)
                 : runtime_beyond(index, record_count(r->records), "record", err);
}
