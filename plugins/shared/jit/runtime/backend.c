/* SPDX-License-Identifier: Apache-2.0 */
#include "backend.h"

#include <stdio.h>
#include <stdlib.h>

#include "rows.h"
#include "tables.h"

/* ---- What families ask for ------------------------------------------------------------------- */

static const device_base *base_of(const collet_device *d)
{
    return (const device_base *)(const void *)d;
}

const collet_host *device_host(const collet_device *d)
{
    return base_of(d)->host;
}

const device_traits *device_traits_of(const collet_device *d)
{
    return &base_of(d)->traits;
}

struct plan_cache *device_tables_of(const collet_device *d)
{
    return base_of(d)->tables;
}

const collet_plugin *device_verbs(void)
{
    return this_backend.plugin;
}

const collet_plugin *collet_plugin_entry(const collet_host *host)
{
    return host->abi >> 16 == COLLET_ABI_MAJOR ? this_backend.plugin : NULL;
}

void device_options(collet_device *d, const char *first)
{
    device_base *b = device_base_of(d);
    const device_traits *t = &b->traits;
    snprintf(b->options, sizeof b->options,
             "%s%s -DGROUP=%u -DPER_ITEM=%u -DHAVE_F64=%u -DEXACT_F32=%u", first,
             t->is_cpu ? " -DSERIAL=1" : "", t->group, t->per_item, t->has_f64, t->exact_f32);
}

/* ---- Life ------------------------------------------------------------------------------------ */

/* The bytes that the setting allows, else what the device has. */
static uint64_t memory_limit(const device_base *b)
{
    char key[64];
    snprintf(key, sizeof key, "%s.memory", this_backend.name);
    const char *set = b->host->config(b->host, key);
    unsigned long long bytes = set ? strtoull(set, NULL, 10) : 0;
    if (bytes)
        return bytes;
    return b->total_memory ? b->total_memory : UINT64_MAX;
}

collet_status device_open(const collet_host *host, uint32_t index, collet_device **device,
                          collet_error *err)
{
    device_base *b = calloc(1, this_backend.device_bytes);
    collet_device *d = (collet_device *)(void *)b;
    if (!b)
        return host->fail(err, COLLET_NO_MEMORY, "%s: no memory to open the device",
                          this_backend.name);
    b->host = host;
    if (pthread_mutex_init(&b->lock, NULL) || pthread_mutex_init(&b->programs.lock, NULL) ||
        device_pool_init(&b->pool, UINT64_MAX)) {
        free(b);
        return host->fail(err, COLLET_NO_MEMORY, "%s: no lock for the device", this_backend.name);
    }
    collet_status status = device_backend_open(d, index, err);
    if (status == COLLET_OK && !(b->tables = device_tables_create()))
        status =
            host->fail(err, COLLET_NO_MEMORY, "%s: no memory to keep tables", this_backend.name);
    if (status != COLLET_OK) {
        device_close(d);
        if (err)
            err->status = status;
        return status;
    }
    char key[64];
    snprintf(key, sizeof key, "%s.staging", this_backend.name);
    b->staging = device_staging_size(host, key, b->staging);
    b->pool.limit = memory_limit(b);
    *device = d;
    return COLLET_OK;
}

void device_close(collet_device *d)
{
    device_base *b = device_base_of(d);
    if (!d)
        return;
    /* Tables are pooled buffers, and these name tickets of queues. */
    plan_cache_destroy(b->tables);
    device_pool_trim(&b->pool, d);
    device_queues_free(d);
    device_programs_trim(d);
    device_backend_close(d);
    device_pool_destroy(&b->pool, d);
    pthread_mutex_destroy(&b->programs.lock);
    pthread_mutex_destroy(&b->lock);
    free(b);
}

void device_trim(collet_device *d)
{
    device_queues_unpin(d);
    device_queues_visit(d, device_queue_trim);
    device_programs_trim(d);
    plan_cache_trim(device_base_of(d)->tables);
    device_pool_trim(&device_base_of(d)->pool, d);
}

/* ---- Rows and memory ------------------------------------------------------------------------- */

int32_t device_supports(collet_device *d, uint32_t row)
{
    const collet_plugin *p = this_backend.plugin;
    return row < p->kernel_count &&
           device_row_runs(device_traits_of(d), p->kernels[row].op, p->kernels[row].sig);
}

collet_status device_buffer_alloc(collet_device *d, uint64_t bytes, collet_buffer **buffer,
                                  collet_error *err)
{
    device_base *b = device_base_of(d);
    if (atomic_load(&b->lost))
        return device_gone(d, err);
    collet_status status = device_pool_alloc(&b->pool, d, bytes, buffer, err);
    return status != COLLET_OK && atomic_load(&b->lost) ? device_gone(d, err) : status;
}

void device_buffer_free(collet_device *d, collet_buffer *buffer)
{
    device_pool_free(&device_base_of(d)->pool, d, buffer);
}

collet_status device_memory_stats(collet_device *d, collet_memory_stats *stats, collet_error *err)
{
    (void)err;
    device_pool_stats(&device_base_of(d)->pool, stats);
    stats->total = device_base_of(d)->total_memory;
    return COLLET_OK;
}

collet_status device_before(collet_device *d, collet_buffer *const *buffers, uint32_t count,
                            collet_queue *q, collet_error *err)
{
    device_base *b = device_base_of(d);
    if (atomic_load(&b->lost))
        return device_gone(d, err);
    return device_pool_before(&b->pool, buffers, count, q, err);
}

/* ---- Launches -------------------------------------------------------------------------------- */

collet_status device_enqueue(collet_device *d, collet_queue *q, const device_launch *l,
                             uint64_t groups, collet_error *err)
{
    collet_buffer *buffers[DEVICE_ARGUMENTS];
    uint32_t count = 0;
    uint64_t ticket = 0;
    if (l->count > DEVICE_ARGUMENTS)
        return device_host(d)->fail(err, COLLET_REFUSED, "%s has %u arguments, %d are allowed",
                                    l->kernel, l->count, DEVICE_ARGUMENTS);
    if (!groups)
        return COLLET_OK;
    for (uint32_t i = 0; i < l->count; i++)
        if (l->arguments[i].buffer)
            buffers[count++] = l->arguments[i].buffer;
    collet_status status = device_before(d, buffers, count, q, err);
    if (status == COLLET_OK)
        status = device_backend_launch(d, q, l, groups, &ticket, err);
    if (status == COLLET_OK)
        device_pool_used(&device_base_of(d)->pool, buffers, count, q, ticket);
    return status;
}
