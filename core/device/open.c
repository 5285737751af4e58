/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_device.c, tests/core/test_failures.c */
#include "open.h"

#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "layers.h"
#include "own_ops.h"
#include "plugins/capabilities.h"
#include "plugins/vtable.h"
#include "rows.h"
#include "util/json.h"

/* ---- Backends ---------------------------------------------------------------------------- */

#define NO_ROOM                                                                                    \
    "other backends use all devices that a runtime supports; deny one of them "                    \
    "(setting plugin_deny)"

static char *no_device_reason(const char *capabilities)
{
    cJSON *json = json_read(capabilities);
    const char *reason = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "reason"));
    char *copy = strdup(reason && *reason ? reason : "it found no device on this machine");
    cJSON_Delete(json);
    return copy;
}

collet_status backend_describe(backend *b, const char *capabilities, collet_error *err)
{
    int32_t count = 0;
    collet_status status = capabilities_verify(capabilities, &count, NULL, err);
    if (status != COLLET_OK)
        return status;
    status = devices_list(b, (uint32_t)count, err);
    if (status != COLLET_OK)
        return status;
    b->description = json_read(capabilities);
    if (!b->description)
        return collet_fail(err, COLLET_NO_MEMORY, "out of memory for the capabilities of %s",
                           b->plugin->name);
    if (!b->device_count) {
        int named = !count && b->plugin->manifest.named_devices;
        b->reason = count ? strdup(NO_ROOM) : no_device_reason(capabilities);
        atomic_store(&b->state, named ? COLLET_BACKEND_USABLE : COLLET_BACKEND_UNAVAILABLE);
        return b->reason ? COLLET_OK : collet_fail(err, COLLET_NO_MEMORY, "out of memory");
    }
    atomic_store(&b->state, COLLET_BACKEND_USABLE);
    return COLLET_OK;
}

/* Reports kernel rows that rows_index will leave out. */
static collet_status rows_report(const backend *b, const collet_plugin *table, collet_error *err)
{
    uint32_t count = 0, first = 0;
    collet_error why;
    for (uint32_t i = 0; i < table->kernel_count; i++)
        if (!vtable_row_usable(vtable_kernel(table, i)) && !count++)
            first = i;
    if (!count)
        return COLLET_OK;
    const collet_kernel_row *row = vtable_kernel(table, first);
    collet_fail(
        &why, COLLET_UNAVAILABLE,
        "%u kernel rows: in row %u flags is 0x%x and reserved is %u; this libcore supports only 0",
        count, first, row->flags, row->reserved);
    return backend_left_out(b, "row-left-out", why.text, err);
}

static collet_status backend_load(backend *b, collet_error *err)
{
    collet_runtime *r = b->runtime;
    const collet_plugin *table = NULL;
    refusal why;
    collet_status status = loader_open(b->plugin, &r->host, r->records, &table, err);
    if (status == COLLET_OK)
        status = layers_open(b, &table, err);
    if (status == COLLET_OK)
        status = own_ops_register(b, table, err);
    if (status == COLLET_OK)
        status = rows_report(b, table, err);
    if (status == COLLET_OK && !b->plugin->capabilities) {
        status = capabilities_get(table, &r->host, &b->capabilities, &why);
        if (status != COLLET_OK)
            collet_fail(err, status, "%s", why.text);
    }
    if (status == COLLET_OK && b->capabilities)
        status = backend_describe(b, b->capabilities, err);
    if (status == COLLET_OK)
        b->table = table;
    return status;
}

collet_status backend_open(backend *b, collet_error *err)
{
    collet_error why = {COLLET_OK, ""};
    pthread_mutex_lock(&b->lock);
    if (!b->table && atomic_load(&b->state) != COLLET_BACKEND_UNAVAILABLE) {
        collet_status status = backend_load(b, &why);
        if (status != COLLET_OK) {
            b->reason = strdup(why.text);
            atomic_store(&b->state, COLLET_BACKEND_UNAVAILABLE);
            log_message(&b->runtime->log, COLLET_LOG_WARNING, "%s cannot be used: %s",
                        b->plugin->name, why.text);
        }
    }
    int state = atomic_load(&b->state);
    pthread_mutex_unlock(&b->lock);
    return state == COLLET_BACKEND_USABLE ? COLLET_OK
                                          : collet_fail(err, COLLET_UNAVAILABLE, "%s: %s",
                                                        b->plugin->name, backend_reason(b, state));
}

/* ---- Devices ----------------------------------------------------------------------------- */

void device_close(device *d)
{
    rows_free(d);
    if (d->handle && !atomic_load(&d->hung))
        d->table->device_close(d->handle);
    d->handle = NULL;
}

/* Records why the device was refused. UNAVAILABLE, NO_MEMORY. */
static collet_status device_refused(const device *d, const char *code, const char *text,
                                    collet_error *err)
{
    const backend *b = d->owner;
    refusal why;
    refuse_with(&why, COLLET_FORMAT, code, "%s: %.900s", d->name, text);
    collet_status status = loader_note(b->plugin, b->runtime->records, &why, err);
    return status == COLLET_OK ? collet_fail(err, COLLET_UNAVAILABLE, "%.900s", text) : status;
}

static collet_status properties_apply(device *d, const collet_device_properties *of,
                                      collet_error *err)
{
    refusal why;
    if (vtable_check_device(d->table, of, &why) != COLLET_OK)
        return device_refused(d, why.code, why.text, err);
    d->space = of->memory == COLLET_MEMORY_HOST ? 0 : (int32_t)d->ordinal + 1;
    d->synchronous = of->order == COLLET_ORDER_SYNCHRONOUS;
    d->one_call = of->threads == COLLET_THREADS_ONE;
    d->direct = d->synchronous && !d->one_call && !d->owner->runtime->trace;
    d->max_queues = d->synchronous ? 0 : of->max_queues;
    return COLLET_OK;
}

static collet_status device_load(device *d, collet_error *err)
{
    backend *b = d->owner;
    collet_device_properties properties = {.struct_size = sizeof properties};
    uint32_t index = d->index == DEVICE_NAMED ? 0 : d->index;
    collet_device *handle = NULL;
    d->table = b->table;
    collet_error why = {COLLET_OK, ""};
    collet_status status = d->table->device_open(d->table, &handle, &properties, &b->runtime->host,
                                                 index, device_given_name(d), &why);
    if (status == COLLET_OK && !handle)
        status = collet_fail(&why, COLLET_UNAVAILABLE, "device_open returned no device");
    if (status == COLLET_NO_MEMORY)
        return collet_fail(err, status, "%s", why.text);
    if (status != COLLET_OK)
        return device_refused(d, "device-open", why.text, err);
    d->handle = handle;
    status = properties_apply(d, &properties, err);
    if (status == COLLET_OK)
        extensions_find(&d->extensions, d->table, handle, d->name, &b->runtime->host);
    if (status == COLLET_OK)
        status = rows_index(d, err);
    if (status != COLLET_OK)
        device_close(d);
    return status;
}

/* A failure is logged once, because with auto a device that failed to open is skipped from then
 * on. */
static collet_status device_open_locked(device *d, collet_error *err)
{
    collet_error why = {COLLET_OK, ""};
    int state = atomic_load(&d->state);
    if (state == DEVICE_OPEN)
        return COLLET_OK;
    if (state == DEVICE_CLOSED && atomic_load(&d->owner->runtime->ended))
        return device_lost(d, err);
    if (state == DEVICE_CLOSED) {
        collet_status status = device_load(d, &why);
        if (status == COLLET_OK) {
            atomic_store_explicit(&d->state, DEVICE_OPEN, memory_order_release);
            return COLLET_OK;
        }
        if (status == COLLET_NO_MEMORY || !(d->reason = strdup(why.text)))
            return collet_fail(err, COLLET_NO_MEMORY, "%s cannot be opened: %s", d->name, why.text);
        atomic_store_explicit(&d->state, DEVICE_FAILED, memory_order_release);
        if (d->index != DEVICE_NAMED) /* the program that named a device gets the error */
            log_message(&d->owner->runtime->log, COLLET_LOG_WARNING, "%s cannot be opened: %s",
                        d->name, why.text);
    }
    return collet_fail(err, COLLET_UNAVAILABLE,
                       d->index == DEVICE_NAMED ? "%s: %s" : "%s cannot be opened: %s", d->name,
                       d->reason ? d->reason : "it was lost");
}

collet_status device_open(device *d, collet_error *err)
{
    backend *b = d->owner;
    int state = atomic_load_explicit(&d->state, memory_order_acquire);
    if (state == DEVICE_OPEN)
        return COLLET_OK;
    if (state == DEVICE_LOST)
        return device_lost(d, err);
    collet_status status = backend_open(b, err);
    if (status != COLLET_OK)
        return status;
    pthread_mutex_lock(&b->lock);
    status = device_open_locked(d, err);
    pthread_mutex_unlock(&b->lock);
    return status;
}
