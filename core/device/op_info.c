/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include <collet/floating.h>

#include "plugins/open.h"
#include "util/struct.h"
#include "util/text.h"
#include "settings/threads.h"

/* ---- The host table ---------------------------------------------------------------------- */

static const collet_runtime *host_runtime(const collet_host *host)
{
    return (const collet_runtime *)(const void *)host;
}

static void host_log(const collet_host *host, int32_t level, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    log_arguments(&host_runtime(host)->log, level, format, arguments);
    va_end(arguments);
}

static int32_t host_threads(const collet_host *host)
{
    return threads_within_quota(host_runtime(host)->threads);
}

/* The value of a key, and its source; NULL without one. */
static const char *value_of(const collet_runtime *r, const char *key, const char **source)
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

static const char *host_config(const collet_host *host, const char *key)
{
    const collet_runtime *r = host_runtime(host);
    const char *source, *value = value_of(r, key, &source);
    const loader_plugin *p = value ? NULL : registry_owner(r, key);
    if (!value && strcmp(key, "in_probe") != 0 && !(p && manifest_setting(&p->manifest, key)))
        log_message(&r->log, COLLET_LOG_ERROR,
                    "a backend reads the setting %s, which no manifest declares", key);
    return value;
}

/* ---- Life -------------------------------------------------------------------------------- */

/* A page that the kernel zeroes in children of fork: the cheapest test that holds in every
 * child. */
static collet_status mark_create(collet_runtime *r, collet_error *err)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *mark = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mark == MAP_FAILED)
        return collet_fail(err, COLLET_NO_MEMORY, "out of memory for a runtime");
    r->fork_mark = mark;
    r->process = getpid();
    *r->fork_mark = madvise(mark, page, MADV_WIPEONFORK) ? FORK_MARK_PROCESS : FORK_MARK_WIPED;
    return COLLET_OK;
}

static void runtime_free(collet_runtime *r)
{
    registry_destroy(r);
    op_table_destroy(&r->ops);
    record_list_free(r->records);
    config_destroy(r->config);
    if (r->fork_mark)
        munmap(r->fork_mark, (size_t)sysconf(_SC_PAGESIZE));
    pthread_mutex_destroy(&r->own_ops_lock);
    pthread_mutex_destroy(&r->device_lock);
    free(r);
}

/* What the setting asks for, as far as there are processors. */
static void take_threads(collet_runtime *r)
{
    int64_t wanted = config_integer(r->config, CONFIG_NUM_THREADS);
    long machine = sysconf(_SC_NPROCESSORS_ONLN);
    r->threads = threads_allowed(wanted);
    if (r->threads >= wanted)
        return;
    if (r->threads < machine)
        log_message(
            &r->log, COLLET_LOG_WARNING,
            "the setting num_threads is %lld, but the processor affinity of this thread allows "
            "%d of %ld (taskset, a batch system, or a library that bound it)",
            (long long)wanted, r->threads, machine);
    else
        log_message(&r->log, COLLET_LOG_WARNING,
                    "the setting num_threads is %lld, but this machine has %d processor%s: %d "
                    "thread%s used",
                    (long long)wanted, r->threads, r->threads == 1 ? "" : "s", r->threads,
                    r->threads == 1 ? " is" : "s are");
}

collet_status collet_runtime_create(collet_runtime **out, const collet_runtime_options *given,
                                    collet_error *err)
{
    COLLET_FLOATING_SCOPE;
    collet_runtime_options options = {0};
    if (!out)
        return collet_fail(err, COLLET_INVALID, "collet_runtime_create: out is NULL");
    collet_status status =
        given ? struct_in(&options, sizeof options, given, "collet_runtime_create", err)
              : COLLET_OK;
    if (status != COLLET_OK)
        return status;
    if (options.reserved)
        return collet_fail(err, COLLET_INVALID,
                           "collet_runtime_create: options->reserved is %u, not 0",
                           options.reserved);
    collet_runtime *r = calloc(1, sizeof *r);
    if (!r)
        return collet_fail(err, COLLET_NO_MEMORY, "out of memory for a runtime");
    r->host = (collet_host){.abi = COLLET_ABI,
                            .struct_size = sizeof r->host,
                            .fail = collet_fail,
                            .log = host_log,
                            .threads = host_threads,
                            .config = host_config,
                            .extension = open_host_extension};
    atomic_store(&r->references, 1);
    pthread_mutex_init(&r->own_ops_lock, NULL);
    pthread_mutex_init(&r->device_lock, NULL);
    status = config_create(&r->config, &options, err);
    if (status != COLLET_OK)
        goto fail;
    r->log = (message_log){options.log, options.log_user,
                           log_level_parse(config_text(r->config, CONFIG_LOG))};
    config_check_environment(&r->log);
    take_threads(r);
    int64_t seconds = config_integer(r->config, CONFIG_TIMEOUT);
    r->timeout = seconds ? seconds * 1000000000 : -1;
    status = mark_create(r, err);
    if (status == COLLET_OK)
        status = op_table_create(&r->ops, err);
    if (status == COLLET_OK)
        status = record_list_create(&r->records, err);
    if (status == COLLET_OK)
        status = registry_create(r, err);
    if (status != COLLET_OK)
        goto fail;
    *out = r;
    return COLLET_OK;
fail:
    runtime_free(r);
    return status;
}

void runtime_retain(collet_runtime *r)
{
    atomic_fetch_add_explicit(&r->references, 1, memory_order_relaxed);
}

/* In a child of fork, devices, locks and threads belong to the parent and are not used. */
void runtime_release(collet_runtime *r)
{
    if (atomic_fetch_sub_explicit(&r->references, 1, memory_order_acq_rel) == 1 && runtime_alive(r))
        runtime_free(r);
}

void collet_runtime_destroy(collet_runtime *runtime)
{
    COLLET_FLOATING_SCOPE;
    if (runtime)
        runtime_release(runtime);
}

collet_status runtime_forked(collet_error *err)
{
    return collet_fail(err, COLLET_FORKED,
                       "this runtime was created before fork and cannot be used in the child; "
                       "create a runtime after fork, or use posix_spawn");
}

uint64_t runtime_host_bytes(void)
{
    long page = sysconf(_SC_PAGESIZE), pages = sysconf(_SC_PHYS_PAGES);
    return pages > 0 ? (uint64_t)pages * (uint64_t)page : 0;
}

collet_status runtime_query(const collet_runtime *r, const void *out, const char *what,
                            collet_error *err)
{
    if (r && !runtime_alive(r))
        return runtime_forked(err);
    return r && out ? COLLET_OK : collet_fail(err, COLLET_INVALID, "%s: an argument is NULL", what);
}

collet_status runtime_beyond(size_t index, const char *list, collet_error *err)
{
    return collet_fail(err, COLLET_NOT_FOUND, "there are not so many %s: index %zu", list, index);
}

/* ---- Ops --------------------------------------------------------------------------------- */

const op *runtime_op(const collet_runtime *r, uint32_t id)
{
    if (id < OP_BUILTIN_MAX)
        return r->ops.by_id[id];
    uint32_t own = id - COLLET_OP_OWN(0);
    return id >= COLLET_OP_OWN(0) && own < atomic_load(&r->own_op_count) ? r->own_ops[own] : NULL;
}

static const op *op_by_name(const collet_runtime *r, const char *name)
{
    for (size_t i = 0; i < r->ops.count; i++)
        if (!strcmp(r->ops.ops[i].name, name))
            return &r->ops.ops[i];
    uint32_t own = atomic_load(&r->own_op_count);
    for (uint32_t i = 0; i < own; i++)
        if (!strcmp(r->own_ops[i]->name, name))
            return r->own_ops[i];
    return NULL;
}

/* A backend's own ops are registered when it is opened; manifests name their ops. */
static void open_provider(const collet_runtime *r, const char *name)
{
    for (size_t b = 0; b < r->backend_count; b++) {
        const manifest *m = &r->backends[b].plugin->manifest;
        for (size_t k = 0; k < m->kernel_count; k++)
            if (!strcmp(m->kernels[k], name))
                backend_open(&r->backends[b], NULL);
    }
}

static collet_status unknown_op(const collet_runtime *r, const char *name, collet_error *err)
{
    const char *nearest = NULL;
    for (size_t i = 0; i < r->ops.count; i++)
        text_nearest(name, r->ops.ops[i].name, &nearest);
    for (uint32_t i = 0; i < atomic_load(&r->own_op_count); i++)
        text_nearest(name, r->own_ops[i]->name, &nearest);
    return collet_fail(err, COLLET_NOT_FOUND, "there is no op '%s'%s%s", name,
                       nearest ? "; the nearest is " : "", nearest ? nearest : "");
}

collet_status collet_op_find(const collet_runtime *r, const char *name, uint32_t *id,
                             collet_error *err)
{
    COLLET_FLOATING_SCOPE;
    collet_status status = runtime_query(r, name && id ? id : NULL, "collet_op_find", err);
    if (status != COLLET_OK)
        return status;
    const op *o = op_by_name(r, name);
    if (!o && strchr(name, '.')) {
        open_provider(r, name);
        o = op_by_name(r, name);
    }
    if (!o)
        return unknown_op(r, name, err);
    *id = o->id;
    return COLLET_OK;
}

size_t collet_op_count(const collet_runtime *r)
{
    return r->ops.count + atomic_load(&r->own_op_count);
}

static collet_status describe(const op *o, collet_op_info *info, collet_error *err)
{
    collet_op_info full = {.id = o->id,
                           .name = o->name,
                           .family = o->family,
                           .shapes = o->shapes,
                           .sigs = o->sigs,
                           .split = o->split,
                           .check = o->check,
                           .n_out = o->n_out,
                           .n_in = o->n_in,
                           .params_size = o->params_size,
                           .alias = o->alias,
                           .operand_size = sizeof *o->operand,
                           .field_size = o->field_size,
                           .operands = o->operand,
                           .fields = o->fields,
                           .field_count = o->field_count,
                           .measure = o->measure,
                           .summary = o->summary};
    return struct_out(info, &full, sizeof full, "collet_op_info", err);
}

static collet_status unknown_id(uint32_t id, collet_error *err)
{
    return collet_fail(err, COLLET_NOT_FOUND, "no op has the id %u", id);
}

collet_status collet_op_signature(const collet_runtime *r, uint32_t id, size_t index,
                                  collet_dtype *dtypes, collet_error *err)
{
    collet_status status = runtime_query(r, dtypes, "collet_op_signature", err);
    if (status != COLLET_OK)
        return status;
    const op *o = runtime_op(r, id);
    if (!o)
        return unknown_id(id, err);
    return op_signature(o, index, dtypes)
               ? COLLET_OK
               : collet_fail(err, COLLET_NOT_FOUND, "%s has no signature %zu", o->name, index);
}

collet_status collet_op_defaults(const collet_runtime *r, uint32_t id, int32_t ndim, void *params,
                                 size_t bytes, collet_error *err)
{
    collet_status status = runtime_query(r, params, "collet_op_defaults", err);
    if (status != COLLET_OK)
        return status;
    if (ndim < 0 || ndim > COLLET_MAX_DIMS)
        return collet_fail(err, COLLET_INVALID, "collet_op_defaults: ndim is %d, not 0 to %d", ndim,
                           COLLET_MAX_DIMS);
    const op *o = runtime_op(r, id);
    if (!o)
        return unknown_id(id, err);
    if (bytes < o->params_size)
        return collet_fail(err, COLLET_INVALID,
                           "collet_op_defaults: %zu bytes were given, the parameters of %s have %u",
                           bytes, o->name, o->params_size);
    op_defaults(o, ndim, params);
    return COLLET_OK;
}

collet_status collet_op_infer(const collet_runtime *r, uint32_t id, const collet_array_spec *ins,
                              const void *params, collet_array_spec *outs, collet_error *err)
{
    COLLET_FLOATING_SCOPE;
    if (!r)
        return collet_fail(err, COLLET_INVALID, "collet_op_infer: the runtime is NULL");
    if (!runtime_alive(r))
        return runtime_forked(err);
    const op *o = runtime_op(r, id);
    return o ? op_infer(o, ins, params, outs, err) : unknown_id(id, err);
}

collet_status collet_op_at(const collet_runtime *r, size_t index, collet_op_info *info,
                           collet_error *err)
{
    collet_status status = runtime_query(r, info, "collet_op_at", err);
    if (status != COLLET_OK)
        return status;
    if (index >= collet_op_count(r))
        return runtime_beyond(index, "ops", err);
    return describe(index < r->ops.count ? &r->ops.ops[index] : r->own_ops[index - r->ops.count],
                    info, err);
}

collet_status collet_op_describe(const collet_runtime *r, uint32_t id, collet_op_info *info,
                                 collet_error *err)
{
    collet_status status = runtime_query(r, info, "collet_op_describe", err);
    if (status != COLLET_OK)
        return status;
    const op *o = runtime_op(r, id);
    return o ? describe(o, info, err) : unknown_id(id, err);
}

/* ---- Settings and records ---------------------------------------------------------------- */

size_t collet_setting_count(const collet_runtime *r)
{
    size_t count = config_count();
    for (size_t i = 0; i < r->plugin_count; i++)
        count += r->plugins[i].manifest.setting_count;
    return count;
}

/* libcore's, then those of the backends in their order, and of the layers. */
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

collet_status collet_setting_at(const collet_runtime *r, size_t index, collet_setting *target,
                                collet_error *err)
{
    const char *source = "default";
    collet_status status = runtime_query(r, target, "collet_setting_at", err);
    if (status != COLLET_OK)
        return status;
    const setting *s = setting_at(r, index);
    if (!s)
        return runtime_beyond(index, "settings", err);
    const char *value = value_of(r, s->key, &source);
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
    return runtime_alive(r) ? record_count(r->records) : 0; /* its lock may be held for ever */
}

collet_status collet_record_at(const collet_runtime *r, size_t index, collet_plugin_record *record,
                               collet_error *err)
{
    collet_status status = runtime_query(r, record, "collet_record_at", err);
    if (status != COLLET_OK)
        return status;
    const collet_plugin_record *entry = record_at(r->records, index);
    return entry ? struct_out(record, entry, sizeof *entry, "collet_plugin_record", err)
                 : runtime_beyond(index, "records", err);
}
