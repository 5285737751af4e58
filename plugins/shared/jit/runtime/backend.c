/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/opencl/test_opencl.c, tests/cuda/test_cuda_device.c */
#include "backend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "between.h"
#include "pool.h"
#include "rows.h"
#include "tables.h"

/* By default a device keeps at most 1 / POOL_SHARE of its memory as freed buffers. If the device is a processor, other
 * libraries use that memory too, so it keeps at most POOL_ON_HOST bytes. */
#define POOL_SHARE 16
#define POOL_ON_HOST ((uint64_t)256 << 20)

void jit_options(collet_device *d, const char *first)
{
    jit_base *b = jit_base_of(d);
    const jit_traits *t = &b->traits;
    snprintf(b->options, sizeof b->options,
             "%s -DGROUP=%u -DPER_ITEM=%u -DHAVE_F64=%u -DEXACT_F32=%u", first, t->group,
             t->per_item, t->has_f64, t->exact_f32);
}

/* ---- Open and close ------------------------------------------------------------------------- */

collet_memory_limit jit_host_memory(const collet_host *host)
{
    const collet_host_memory_extension *e = host->extension(host, COLLET_EXTENSION_HOST_MEMORY);
    collet_memory_limit limit = {.struct_size = sizeof limit};
    if (e)
        (void)e->read(&limit, NULL);
    return limit;
}

/* The bytes of freed memory that the setting NAME.pool lets a device keep. */
static uint64_t most_idle(const jit_base *b)
{
    char key[64];
    snprintf(key, sizeof key, "%s.pool", b->driver->plugin.name);
    uint64_t share = b->total_memory / POOL_SHARE;
    if (b->in_host_memory && share > POOL_ON_HOST)
        share = POOL_ON_HOST;
    return jit_staging_size(b->host, key, share);
}

/* The bytes that the setting NAME.memory allows; by default all memory of the device. */
static uint64_t memory_limit(const jit_base *b)
{
    char key[64];
    snprintf(key, sizeof key, "%s.memory", b->driver->plugin.name);
    uint64_t bytes = strtoull(b->host->config(b->host, key), NULL, 10);
    if (bytes)
        return bytes;
    return b->total_memory ? b->total_memory : UINT64_MAX;
}

collet_status jit_device_open(const collet_plugin *self, collet_device **device,
                              collet_device_properties *properties, const collet_host *host,
                              uint32_t index, const char *device_name, collet_error *err)
{
    sigset_t before;
    const jit_driver *driver = (const jit_driver *)(const void *)self;
    const char *name = self->name;
    (void)device_name;
    jit_base *b = calloc(1, driver->device_bytes);
    collet_device *d = (collet_device *)(void *)b;
    if (!b)
        return host->fail(err, COLLET_NO_MEMORY, "%s: out of memory while opening the device",
                          name);
    b->driver = driver;
    b->host = host;
    b->index = index;
    if (pthread_mutex_init(&b->lock, NULL) || pthread_mutex_init(&b->programs.lock, NULL) ||
        jit_pool_init(&b->pool, UINT64_MAX)) {
        free(b);
        return host->fail(err, COLLET_NO_MEMORY, "%s: cannot create the device's lock", name);
    }
    jit_signals_block(&before);
    collet_status status = driver->device->open(d, index, err);
    jit_signals_restore(&before);
    if (status == COLLET_OK && !(b->tables = jit_tables_create()))
        status =
            host->fail(err, COLLET_NO_MEMORY, "%s: out of memory for the cache of tables", name);
    if (status != COLLET_OK) {
        jit_device_close(d);
        if (err)
            err->status = status;
        return status;
    }
    char key[64];
    snprintf(key, sizeof key, "%s.staging", name);
    b->staging = jit_staging_size(host, key, b->staging);
    uint64_t host_total = b->in_host_memory ? jit_host_memory(host).total : 0;
    if (host_total && host_total < b->total_memory)
        b->total_memory = host_total;
    b->pool.limit = memory_limit(b);
    b->pool.most = most_idle(b);
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
    /* Tables come first: they are pooled buffers and refer to queues. */
    plan_cache_destroy(b->tables);
    jit_pool_trim(&b->pool, d);
    jit_staging_release(d);
    jit_queues_free(d);
    jit_programs_trim(d);
    b->driver->device->close(d);
    jit_pool_destroy(&b->pool, d);
    pthread_mutex_destroy(&b->programs.lock);
    pthread_mutex_destroy(&b->lock);
    free(b);
}

static void trim(collet_device *d)
{
    jit_base *b = jit_base_of(d);
    jit_staging_release(d);
    jit_queues_visit(d, b->driver->queue->trim);
    if (b->driver->device->trim)
        b->driver->device->trim(d);
    jit_programs_trim(d);
    plan_cache_trim(b->tables);
    jit_pool_trim(&b->pool, d);
}

/* ---- Rows and memory ------------------------------------------------------------------------- */

int32_t jit_device_supports(collet_device *d, uint32_t row)
{
    const collet_plugin *p = &jit_driver_of(d)->plugin;
    return row < p->kernel_count &&
           jit_row_runs(jit_traits_of(d), p->kernels[row].op, p->kernels[row].sig);
}

collet_status jit_buffer_alloc(collet_device *d, collet_buffer **buffer, uint64_t bytes,
                               collet_error *err)
{
    jit_base *b = jit_base_of(d);
    collet_status status = jit_check(d, err);
    if (status == COLLET_OK)
        status = jit_pool_alloc(&b->pool, d, bytes, buffer, err);
    /* The device may have been lost during the allocation. */
    return status != COLLET_OK && jit_check(d, err) != COLLET_OK ? COLLET_DEVICE_LOST : status;
}

void jit_buffer_free(collet_device *d, collet_buffer *buffer)
{
    jit_pool_free(&jit_base_of(d)->pool, d, buffer);
}

/* ---- Extensions ------------------------------------------------------------------------------ */

static collet_status stats(collet_device *d, collet_memory_stats *stats, collet_error *err)
{
    jit_base *b = jit_base_of(d);
    (void)err;
    jit_pool_stats(&b->pool, stats);
    stats->total = b->total_memory;
    if (b->in_host_memory)
        stats->available = jit_host_memory(b->host).available;
    else if (b->driver->memory->available)
        stats->available = b->driver->memory->available(d);
    uint64_t left = stats->total > stats->held ? stats->total - stats->held : 0;
    if (stats->total && stats->available > left)
        stats->available = left;
    return COLLET_OK;
}

static void reset_peak(collet_device *d)
{
    jit_pool_reset_peak(&jit_base_of(d)->pool);
}

static const collet_memory_extension memory_extension = {sizeof memory_extension, 0, stats,
                                                         reset_peak};
static const collet_trim_extension trim_extension = {sizeof trim_extension, 0, trim};

static const jit_extension_table common[] = {
    {COLLET_EXTENSION_COPY, &jit_copy_extension},
    {COLLET_EXTENSION_MEMORY, &memory_extension},
    {COLLET_EXTENSION_TRIM, &trim_extension},
    {NULL, NULL},
};

static const void *find(const jit_extension_table *list, const char *name)
{
    while (list->name && strcmp(list->name, name) != 0)
        list++;
    return list->table;
}

const void *jit_extension(collet_device *d, const char *name)
{
    const void *table = find(common, name);
    return table ? table : find(jit_driver_of(d)->extensions, name);
}
