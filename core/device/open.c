/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include <cjson/cJSON.h>

#include <collet/floating.h>

#include "plugins/capabilities.h"
#include "util/json.h"
#include "util/struct.h"
#include "block.h"
#include "plugins/vtable.h"

/* ---- Devices of a backend ---------------------------------------------------------------- */

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

/* Sets devices and `b->state` from the capabilities. */
static collet_status capabilities_apply(backend *b, const char *capabilities, collet_error *err)
{
    int32_t count = 0;
    collet_status status = capabilities_verify(capabilities, &count, err);
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

const char *registry_choice(const collet_runtime *r, const char *key)
{
    const loader_plugin *owner = registry_owner(r, key);
    for (size_t i = 0; owner && i < r->backend_count; i++)
        if (r->backends[i].plugin == owner)
            return cJSON_GetStringValue(
                cJSON_GetObjectItemCaseSensitive(r->backends[i].choices, strchr(key, '.') + 1));
    return NULL;
}

/* ---- Opening a backend ------------------------------------------------------------------- */

int backend_state(const backend *b)
{
    int state = atomic_load(&b->state);
    return state == COLLET_BACKEND_USABLE && !b->device_count ? COLLET_BACKEND_UNAVAILABLE : state;
}

const char *backend_reason(const backend *b, int state)
{
    if (state != COLLET_BACKEND_UNAVAILABLE)
        return state == COLLET_BACKEND_UNPROVEN ? b->plugin->reason : "";
    return b->reason ? b->reason : b->plugin->reason;
}

/* Tells of the kernel rows that rows_index leaves out. */
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
    collet_fail(&why, COLLET_UNAVAILABLE,
                "%u kernel rows: row %u has the flags 0x%x, and reserved is %u; this libcore knows "
                "only 0",
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
        status = capabilities_apply(b, b->capabilities, err);
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

/* ---- Opening a device -------------------------------------------------------------------- */

static uint32_t op_slot(uint32_t id)
{
    return id < OP_BUILTIN_MAX ? id : OP_BUILTIN_MAX + (id - COLLET_OP_OWN(0));
}

#define OP_SLOTS (OP_BUILTIN_MAX + RUNTIME_OWN_OPS_MAX)

/* The runtime's id of a row's op; 0 if the op, its signature or the row's flags are unknown. */
static uint32_t row_op(const backend *b, const collet_kernel_row *row)
{
    uint32_t id = row->op >= COLLET_OP_OWN(0) ? b->own_ops[row->op - COLLET_OP_OWN(0)] : row->op;
    const op *o = runtime_op(b->runtime, id);
    return o && vtable_row_usable(row) && op_accepts(o, row->sig) ? id : 0;
}

static collet_status rows_index(device *d, collet_error *err)
{
    const collet_plugin *table = d->table;
    int32_t (*supports)(collet_device *, uint32_t) = table->device_supports;
    uint32_t *op_of = calloc(table->kernel_count + 1u, sizeof *op_of);
    d->first = calloc(OP_SLOTS + 1, sizeof *d->first);
    d->rows = calloc(table->kernel_count + 1u, sizeof *d->rows);
    if (!op_of || !d->first || !d->rows) {
        free(op_of);
        return collet_fail(err, COLLET_NO_MEMORY, "out of memory for the kernels of %s", d->name);
    }
    for (uint32_t i = 0; i < table->kernel_count; i++) {
        if (supports && !supports(d->handle, i))
            continue;
        op_of[i] = row_op(d->owner, vtable_kernel(table, i));
        if (op_of[i])
            d->first[op_slot(op_of[i]) + 1]++;
    }
    for (uint32_t s = 0; s < OP_SLOTS; s++)
        d->first[s + 1] += d->first[s];
    /* Filling moved each slot's start to the next slot's start: shift back. */
    for (uint32_t i = 0; i < table->kernel_count; i++) {
        if (!op_of[i])
            continue;
        const collet_kernel_row *row = vtable_kernel(table, i);
        d->rows[d->first[op_slot(op_of[i])]++] = (device_row){row->sig, row};
    }
    memmove(d->first + 1, d->first, OP_SLOTS * sizeof *d->first);
    d->first[0] = 0;
    free(op_of);
    return COLLET_OK;
}

static void device_unload(device *d)
{
    free(d->first);
    free(d->rows);
    d->first = NULL;
    d->rows = NULL;
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
    d->direct = d->synchronous && !d->one_call;
    d->max_queues = d->synchronous ? 0 : of->max_queues;
    return COLLET_OK;
}

static collet_status device_load(device *d, collet_error *err)
{
    backend *b = d->owner;
    collet_device_properties properties = {
        .struct_size = sizeof properties, .table = b->table, .name = device_given_name(d)};
    uint32_t index = d->index == DEVICE_NAMED ? 0 : d->index;
    collet_device *handle = NULL;
    d->table = b->table;
    collet_error why = {COLLET_OK, ""};
    collet_status status =
        d->table->device_open(&b->runtime->host, index, &properties, &handle, &why);
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
        device_unload(d);
    return status;
}

/* Logged once: under auto a device that failed to open is skipped from then on. */
static collet_status device_open_locked(device *d, collet_error *err)
{
    collet_error why = {COLLET_OK, ""};
    int state = atomic_load(&d->state);
    if (state == DEVICE_OPEN)
        return COLLET_OK;
    if (state == DEVICE_CLOSED) {
        collet_status status = device_load(d, &why);
        if (status == COLLET_OK) {
            atomic_store_explicit(&d->state, DEVICE_OPEN, memory_order_release);
            return COLLET_OK;
        }
        if (status == COLLET_NO_MEMORY || !(d->reason = strdup(why.text)))
            return collet_fail(err, COLLET_NO_MEMORY, "%s cannot be opened: %s", d->name, why.text);
        atomic_store_explicit(&d->state, DEVICE_FAILED, memory_order_release);
        if (d->index != DEVICE_NAMED) /* auto never opens one: who named it gets the error */
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
        return collet_fail(err, COLLET_DEVICE_LOST, "%s was lost", d->name);
    collet_status status = backend_open(b, err);
    if (status != COLLET_OK)
        return status;
    pthread_mutex_lock(&b->lock);
    status = device_open_locked(d, err);
    pthread_mutex_unlock(&b->lock);
    return status;
}

const collet_kernel_row *device_find_row(const device *d, uint32_t id, uint64_t sig, uint64_t mask)
{
    uint32_t slot = op_slot(id);
    for (uint32_t i = d->first[slot]; i < d->first[slot + 1]; i++)
        if (((d->rows[i].sig ^ sig) & mask) == 0)
            return d->rows[i].row;
    return NULL;
}

/* ---- The list of backends ---------------------------------------------------------------- */

/* As auto chooses: first what is proven, then what is tried when it is opened, then what cannot be
 * used, for lack of a device too; last the layers. */
static void rank(loader_plugin *p)
{
    int32_t count = 0;
    if (p->usable && p->capabilities)
        (void)capabilities_verify(p->capabilities, &count, NULL);
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
    const char *cache = config_boolean(c, CONFIG_CACHE) ? config_text(c, CONFIG_CACHE_DIR) : "";
    int from_program = config_from_program(c, CONFIG_PLUGIN_PATH);
    loader_options options = {.program_path = from_program && *path ? path : NULL,
                              .environment_path = !from_program && *path ? path : NULL,
                              .deny = *deny ? deny : NULL,
                              .trust_group = config_text(c, CONFIG_TRUST_GROUP),
                              .cache_directory = *cache ? cache : NULL,
                              .settings = config_plugin_settings(c),
                              .examined = check_settings,
                              .user = r,
                              .probe = config_boolean(c, CONFIG_PROBE),
                              .timeout_ms = config_integer(c, CONFIG_PROBE_TIMEOUT),
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
            status = capabilities_apply(b, p->capabilities, err);
        if (status != COLLET_OK)
            return status;
        b->choices = cJSON_GetObjectItemCaseSensitive(b->description, "choices");
    }
    return COLLET_OK;
}

static void device_destroy(device *d)
{
    blocks_destroy(d);
    device_unload(d);
    pthread_mutex_destroy(&d->retired_lock);
    pthread_mutex_destroy(&d->calls);
    free(d->reason);
}

void registry_destroy(collet_runtime *r)
{
    /* Queues of one device may use memory of another. */
    for (uint32_t i = 0; i < atomic_load(&r->device_total); i++)
        queues_destroy(r->devices[i]);
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

/* ---- Queries of programs ------------------------------------------------------------- */

size_t collet_backend_count(const collet_runtime *r)
{
    return r->backend_count;
}

collet_status collet_backend_info_at(const collet_runtime *r, size_t index,
                                     collet_backend_info *info, collet_error *err)
{
    collet_status status = runtime_query(r, info, "collet_backend_info_at", err);
    if (status != COLLET_OK)
        return status;
    if (index >= r->backend_count)
        return runtime_beyond(index, "backends", err);
    backend *b = &r->backends[index];
    const loader_plugin *p = b->plugin;
    /* The state publishes the results of opening. */
    int state = backend_state(b), known = state != COLLET_BACKEND_UNPROVEN;
    const char *capabilities = p->capabilities ? p->capabilities : known ? b->capabilities : NULL;
    collet_backend_info full = {.state = state,
                                .name = p->name,
                                .version = p->manifest.version,
                                .abi = p->manifest.abi,
                                .priority = p->manifest.priority,
                                .jit = p->manifest.jit,
                                .parallel = p->manifest.parallel,
                                .gpu = p->manifest.gpu,
                                .device_count = known ? b->device_count : 0,
                                .kernel_count = (uint32_t)p->manifest.kernel_count,
                                .path = p->path,
                                .reason = backend_reason(b, state),
                                .capabilities = capabilities ? capabilities : ""};
    return struct_out(info, &full, sizeof full, "collet_backend_info", err);
}

/* The device that "name" (its first) or "name:device" names, open; NULL: there is none. */
static device *open_named(const collet_runtime *r, const char *text)
{
    char name[COLLET_MAX_NAME];
    size_t length = strcspn(text, ":");
    device *d = NULL;
    if (length >= sizeof name || !strcmp(text + length, ":"))
        return NULL;
    memcpy(name, text, length);
    name[length] = '\0';
    backend *b = registry_find(r, name);
    if (!b || backend_open(b, NULL) != COLLET_OK ||
        device_find(b, text[length] ? text + length + 1 : "", &d, NULL) != COLLET_OK ||
        device_open(d, NULL) != COLLET_OK)
        return NULL;
    return d;
}

int32_t collet_backend_has_kernel(const collet_runtime *r, const char *name, uint32_t id,
                                  const collet_dtype *dtypes, uint32_t count)
{
    COLLET_FLOATING_SCOPE;
    uint64_t sig = 0, mask = 0;
    if (!r || !name || !dtypes || count > COLLET_MAX_OPERANDS || !runtime_alive(r))
        return 0;
    device *d = runtime_op(r, id) ? open_named(r, name) : NULL;
    if (!d)
        return 0;
    for (uint32_t i = 0; i < count; i++) {
        if (dtypes[i] == COLLET_DTYPE_NONE)
            continue;
        if (!collet_dtype_size(dtypes[i]))
            return 0;
        sig |= COLLET_SIG_AT(i, dtypes[i]);
        mask |= COLLET_SIG_AT(i, (1u << COLLET_SIG_BITS) - 1);
    }
    return device_find_row(d, id, sig, mask) != NULL;
}
