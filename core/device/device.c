/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_device.c, tests/core/test_select.c, tests/core/test_extensions.c */
#include "device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* `suffix`: the text after the backend's name and ':'. */
static void device_init(device *d, backend *b, uint32_t index, uint32_t ordinal, const char *suffix)
{
    d->owner = b;
    d->index = index;
    d->ordinal = ordinal;
    snprintf(d->name, sizeof d->name, "%s:%s", b->plugin->name, suffix);
    pthread_mutex_init(&d->retired_lock, NULL);
    pthread_mutex_init(&d->calls, NULL);
    d->retired_end = &d->retired;
    atomic_store(&b->runtime->devices[ordinal], d);
}

collet_status devices_list(backend *b, uint32_t count, collet_error *err)
{
    collet_runtime *r = b->runtime;
    device *devices = calloc(count ? count : 1, sizeof *devices);
    if (!devices)
        return collet_fail(err, COLLET_NO_MEMORY, "out of memory for the devices of %s",
                           b->plugin->name);
    pthread_mutex_lock(&r->device_lock);
    uint32_t ordinal = atomic_load(&r->device_total);
    uint32_t places = RUNTIME_DEVICES_MAX - ordinal;
    places = places < RUNTIME_DEVICES_EACH ? places : RUNTIME_DEVICES_EACH;
    if (count > places) {
        log_message(&r->log, COLLET_LOG_WARNING,
                    "%s: only the first %u of its %u devices can be used (at most %d of one "
                    "backend and %d in all)",
                    b->plugin->name, places, count, RUNTIME_DEVICES_EACH, RUNTIME_DEVICES_MAX);
        count = places;
    }
    for (uint32_t i = 0; i < count; i++) {
        char suffix[16];
        snprintf(suffix, sizeof suffix, "%u", i);
        device_init(&devices[i], b, i, ordinal + i, suffix);
    }
    atomic_store(&r->device_total, ordinal + count);
    pthread_mutex_unlock(&r->device_lock);
    b->devices = devices;
    b->device_count = count;
    return COLLET_OK;
}

collet_status device_lost(const device *d, collet_error *err)
{
    return collet_fail(err, COLLET_DEVICE_LOST,
                       atomic_load(&d->owner->runtime->ended)
                           ? "%s cannot be used any more, because the process ends"
                           : "%s was lost",
                       d->name);
}

static device *find_named(const backend *b, const char *name, uint32_t *count)
{
    device *d = b->named;
    *count = 0;
    while (d && strcmp(device_given_name(d), name) != 0) {
        d = d->next_named;
        ++*count;
    }
    return d;
}

/* Makes a named device. NULL: the reason is in *err. */
static device *add_named(backend *b, const char *name, collet_error *err)
{
    collet_runtime *r = b->runtime;
    device *d = calloc(1, sizeof *d);
    if (!d) {
        collet_fail(err, COLLET_UNAVAILABLE, "out of memory for the device %s", name);
        return NULL;
    }
    pthread_mutex_lock(&r->device_lock);
    uint32_t ordinal = atomic_load(&r->device_total);
    if (ordinal < RUNTIME_DEVICES_MAX) {
        device_init(d, b, DEVICE_NAMED, ordinal, name);
        atomic_store(&r->device_total, ordinal + 1);
    }
    pthread_mutex_unlock(&r->device_lock);
    if (ordinal < RUNTIME_DEVICES_MAX)
        return d;
    collet_fail(err, COLLET_UNAVAILABLE, "a runtime supports at most %d devices, all in use",
                RUNTIME_DEVICES_MAX);
    free(d);
    return NULL;
}

collet_status device_find(backend *b, const char *suffix, device **out, collet_error *err)
{
    char *end;
    unsigned long index = *suffix ? strtoul(suffix, &end, 10) : 0;
    if (!*suffix || (*suffix >= '0' && *suffix <= '9' && !*end)) {
        if (index >= b->device_count && b->plugin->manifest.named_devices && !b->device_count)
            return collet_fail(err, COLLET_UNAVAILABLE, "%s", b->reason ? b->reason : "");
        if (index >= b->device_count)
            return collet_fail(err, COLLET_UNAVAILABLE,
                               "device %s is out of range: it has %u device%s, numbered from 0",
                               *suffix ? suffix : "0", b->device_count,
                               b->device_count == 1 ? "" : "s");
        *out = &b->devices[index];
        return COLLET_OK;
    }
    if (!b->plugin->manifest.named_devices || strlen(suffix) >= COLLET_MAX_NAME)
        return collet_fail(err, COLLET_INVALID, "'%s' is not the number of a device", suffix);
    uint32_t count;
    pthread_mutex_lock(&b->lock);
    device *d = find_named(b, suffix, &count);
    if (!d && count >= RUNTIME_DEVICES_EACH)
        collet_fail(err, COLLET_UNAVAILABLE, "a backend supports at most %d named devices",
                    RUNTIME_DEVICES_EACH);
    else if (!d && (d = add_named(b, suffix, err))) {
        d->next_named = b->named;
        b->named = d;
    }
    pthread_mutex_unlock(&b->lock);
    *out = d;
    return d ? COLLET_OK : COLLET_UNAVAILABLE;
}

typedef struct known_extension {
    const char *name;
    size_t offset; /* in device_extensions */
    uint32_t size; /* size of the table in the first release of this version */
} known_extension;

static const known_extension known[] = {
    {COLLET_EXTENSION_BATCH, offsetof(device_extensions, batch), sizeof(collet_batch_extension)},
    {COLLET_EXTENSION_COPY, offsetof(device_extensions, copy), sizeof(collet_copy_extension)},
    {COLLET_EXTENSION_EXPLAIN, offsetof(device_extensions, explain),
     sizeof(collet_explain_extension)},
    {COLLET_EXTENSION_MEMORY, offsetof(device_extensions, memory), sizeof(collet_memory_extension)},
    {COLLET_EXTENSION_NATIVE, offsetof(device_extensions, native), sizeof(collet_native_extension)},
    {COLLET_EXTENSION_PINNED, offsetof(device_extensions, pinned), sizeof(collet_pinned_extension)},
    {COLLET_EXTENSION_TIMING, offsetof(device_extensions, timing), sizeof(collet_timing_extension)},
    {COLLET_EXTENSION_TRIM, offsetof(device_extensions, trim), sizeof(collet_trim_extension)},
};

/* The first members of every table; pointers to functions follow. */
typedef struct table_head {
    uint32_t struct_size;
    uint32_t reserved;
} table_head;

static int has_null(const void *table, uint32_t size)
{
    for (size_t at = sizeof(table_head); at < size; at += sizeof(void (*)(void))) {
        void (*function)(void);
        memcpy(&function, (const char *)table + at, sizeof function);
        if (!function)
            return 1;
    }
    return 0;
}

static int usable(const known_extension *k, const void *table, const char *name,
                  const collet_host *host)
{
    table_head head = {0, 0};
    memcpy(&head.struct_size, table, sizeof head.struct_size);
    if (head.struct_size < k->size) {
        host->log(host, COLLET_LOG_ERROR,
                  "%s: the extension %s is not used: its table has %u bytes, and the first version "
                  "has %u",
                  name, k->name, head.struct_size, k->size);
        return 0;
    }
    memcpy(&head, table, sizeof head);
    if (!head.reserved && !has_null(table, k->size))
        return 1;
    host->log(host, COLLET_LOG_ERROR, "%s: the extension %s is not used: %s", name, k->name,
              head.reserved ? "its table's member `reserved` is not 0"
                            : "a function in its table is NULL");
    return 0;
}

void extensions_find(device_extensions *found, const collet_plugin *plugin, collet_device *opened,
                     const char *name, const collet_host *host)
{
    for (size_t i = 0; plugin->extension && i < sizeof known / sizeof *known; i++) {
        const void *table = plugin->extension(opened, known[i].name);
        if (table && usable(&known[i], table, name, host))
            memcpy((char *)found + known[i].offset, &table, sizeof table);
    }
}
