/* SPDX-License-Identifier: Apache-2.0 */
#include "backend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rows.h"
#include "tables.h"

/* ---- What families use ---------------------------------------------------------------------- */

static const jit_base *base_of(const collet_device *d)
{
    return (const jit_base *)(const void *)d;
}

const collet_host *jit_host(const collet_device *d)
{
    return base_of(d)->host;
}

const jit_traits *jit_traits_of(const collet_device *d)
{
    return &base_of(d)->traits;
}

struct plan_cache *jit_tables_of(const collet_device *d)
{
    return base_of(d)->tables;
}

const collet_plugin *jit_vtable(void)
{
    return this_backend.plugin;
}

const collet_plugin *collet_plugin_entry(const collet_host *host)
{
    return host->abi >> 16 == COLLET_ABI_MAJOR ? this_backend.plugin : NULL;
}

void jit_options(collet_device *d, const char *first)
{
    jit_base *b = jit_base_of(d);
    const jit_traits *t = &b->traits;
    snprintf(b->options, sizeof b->options,
             "%s -DGROUP=%u -DPER_ITEM=%u -DHAVE_F64=%u -DEXACT_F32=%u", first, t->group,
             t->per_item, t->has_f64, t->exact_f32);
}

/* ---- Open and close ------------------------------------------------------------------------- */

/* The bytes that the setting allows, by default the device's total. */
static uint64_t memory_limit(const jit_base *b)
{
    char key[64];
    snprintf(key, sizeof key, "%s.memory", this_backend.name);
    uint64_t bytes = strtoull(b->host->config(b->host, key), NULL, 10);
    if (bytes)
        return bytes;
    return b->total_memory ? b->total_memory : UINT64_MAX;
}

collet_status jit_device_open(const collet_host *host, uint32_t index,
                              collet_device_properties *properties, collet_device **device,
                              collet_error *err)
{
    sigset_t before;
    jit_base *b = calloc(1, this_backend.device_bytes);
    collet_device *d = (collet_device *)(void *)b;
    if (!b)
        return host->fail(err, COLLET_NO_MEMORY, "%s: out of memory while opening the device",
                          this_backend.name);
    b->host = host;
    b->index = index;
    if (pthread_mutex_init(&b->lock, NULL) || pthread_mutex_init(&b->programs.lock, NULL) ||
        jit_pool_init(&b->pool, UINT64_MAX)) {
        free(b);
        return host->fail(err, COLLET_NO_MEMORY, "%s: cannot create the device's lock",
                          this_backend.name);
    }
    jit_signals_block(&before);
    collet_status status = jit_backend_open(d, index, err);
    jit_signals_restore(&before);
    if (status == COLLET_OK && !(b->tables = jit_tables_create()))
        status = host->fail(err, COLLET_NO_MEMORY, "%s: out of memory for the cache of tables",
                            this_backend.name);
    if (status != COLLET_OK) {
        jit_device_close(d);
        if (err)
            err->status = status;
        return status;
    }
    char key[64];
    snprintf(key, sizeof key, "%s.staging", this_backend.name);
    b->staging = jit_staging_size(host, key, b->staging);
    b->pool.limit = memory_limit(b);
    properties->memory = COLLET_MEMORY_OWN;
    properties->order = COLLET_ORDER_QUEUES;
    properties->threads = COLLET_THREADS_ANY;
    *device = d;
    return COLLET_OK;
}

void jit_device_close(collet_device *d)
{
    jit_base *b = jit_base_of(d);
    if (!d)
        return;
    /* Tables are pooled buffers, and refer to queues. */
    plan_cache_destroy(b->tables);
    jit_pool_trim(&b->pool, d);
    jit_staging_release(d);
    jit_queues_free(d);
    jit_programs_trim(d);
    jit_backend_close(d);
    jit_pool_destroy(&b->pool, d);
    pthread_mutex_destroy(&b->programs.lock);
    pthread_mutex_destroy(&b->lock);
    free(b);
}

void jit_trim(collet_device *d)
{
    jit_staging_release(d);
    jit_queues_visit(d, jit_queue_trim);
    jit_programs_trim(d);
    plan_cache_trim(jit_base_of(d)->tables);
    jit_pool_trim(&jit_base_of(d)->pool, d);
}

/* ---- Rows and memory ------------------------------------------------------------------------- */

int32_t jit_device_supports(collet_device *d, uint32_t row)
{
    const collet_plugin *p = this_backend.plugin;
    return row < p->kernel_count &&
           jit_row_runs(jit_traits_of(d), p->kernels[row].op, p->kernels[row].sig);
}

collet_status jit_buffer_alloc(collet_device *d, uint64_t bytes, collet_buffer **buffer,
                               collet_error *err)
{
    jit_base *b = jit_base_of(d);
    if (atomic_load(&b->lost))
        return jit_device_gone(d, err);
    collet_status status = jit_pool_alloc(&b->pool, d, bytes, buffer, err);
    return status != COLLET_OK && atomic_load(&b->lost) ? jit_device_gone(d, err) : status;
}

void jit_buffer_free(collet_device *d, collet_buffer *buffer)
{
    jit_pool_free(&jit_base_of(d)->pool, d, buffer);
}

collet_status jit_memory_stats(collet_device *d, collet_memory_stats *stats, collet_error *err)
{
    (void)err;
    jit_pool_stats(&jit_base_of(d)->pool, stats);
    stats->total = jit_base_of(d)->total_memory;
    return COLLET_OK;
}

void jit_memory_reset_peak(collet_device *d)
{
    jit_pool_reset_peak(&jit_base_of(d)->pool);
}

collet_status jit_check(collet_device *d, collet_error *err)
{
    return atomic_load(&jit_base_of(d)->lost) ? jit_device_gone(d, err) : COLLET_OK;
}

const void *jit_extension(collet_device *d, const char *name)
{
    (void)d;
    for (const jit_extension_table *e = this_backend.extensions; e->name; e++)
        if (!strcmp(e->name, name))
            return e->table;
    return NULL;
}

/* ---- Launches -------------------------------------------------------------------------------- */

collet_status jit_enqueue(collet_device *d, collet_queue *q, const jit_launch *l, uint64_t groups,
                          collet_error *err)
{
    if (l->count > JIT_ARGUMENTS)
        return jit_host(d)->fail(err, COLLET_REFUSED, "%s has %u arguments, %d are allowed",
                                 l->kernel, l->count, JIT_ARGUMENTS);
    if (!groups)
        return COLLET_OK;
    collet_status status = jit_check(d, err);
    return status == COLLET_OK ? jit_backend_launch(d, q, l, groups, err) : status;
}
