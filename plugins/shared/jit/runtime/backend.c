/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/opencl/test_opencl.c, tests/cuda/test_cuda_device.c */
#include "backend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch.h"
#include "queue.h"
#include "rows.h"
#include "tables.h"

#include <collet/extensions.h>

extern const collet_copy_extension jit_copy_extension;

static collet_status refuse(collet_device *d, const char *why, collet_error *err)
{
    return jit_host(d)->fail(err, COLLET_REFUSED, "no copy between these devices: %s", why);
}

/* Enqueues in `q` the read of the exported bytes; the export was enqueued in `from_queue`. */
static collet_status fetch(collet_queue *q, collet_buffer *target, uint64_t offset,
                           collet_queue *from_queue, const jit_export *export, uint64_t bytes,
                           collet_error *err)
{
    uint64_t ticket = 0;
    collet_status status = jit_slots_of(q)->order(q, from_queue, export->ticket, err);
    if (status == COLLET_OK)
        status = jit_driver_of(jit_queue_of(q)->device)
                     ->copy->export_read(q, target, offset, jit_queue_of(from_queue)->device,
                                         export, bytes, &ticket, err);
    if (status != COLLET_OK)
        return status;
    /* The export ends after the read. If the queues cannot be ordered, the host waits for the read. */
    collet_error why = {COLLET_OK, ""};
    if (jit_slots_of(q)->order(from_queue, q, ticket, &why) != COLLET_OK)
        jit_queue_await(q, ticket);
    return COLLET_OK;
}

static collet_status copy(collet_device *d, collet_queue *q, collet_buffer *target,
                          uint64_t target_offset, const collet_plugin *of, collet_device *from,
                          collet_queue *from_queue, collet_buffer *source, uint64_t source_offset,
                          uint64_t bytes, collet_error *err)
{
    const jit_driver *driver = jit_driver_of(d);
    jit_export export = {.buffer = source, .offset = source_offset};
    if (of != &driver->plugin)
        return refuse(d, "they belong to different backends", err);
    collet_status status = jit_check(d, err);
    if (status != COLLET_OK)
        return status;
    if (!driver->copy->reaches(d, from))
        return refuse(d, "the target cannot read the source's memory", err);
    if (jit_check(from, err) != COLLET_OK ||
        driver->copy->export_begin(from_queue, bytes, &export, err) != COLLET_OK)
        return refuse(d, "the source device was lost", err);
    status = fetch(q, target, target_offset, from_queue, &export, bytes, err);
    driver->copy->export_end(from_queue, &export);
    return status;
}

const collet_copy_extension jit_copy_extension = {sizeof jit_copy_extension, 0, copy};

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

#define LEAST 256u

/* Rounds `bytes` up to a capacity and returns its bin. Capacities from 2^k to 2^(k + 1) are multiples of 2^k / 8. */
static uint32_t bin_of(uint64_t bytes, uint64_t *capacity)
{
    if (bytes <= LEAST) {
        *capacity = LEAST;
        return 0;
    }
    uint32_t log2 = 63u - (uint32_t)__builtin_clzll(bytes);
    uint64_t step = 1ull << (log2 - 3);
    uint64_t eighths = jit_ceiling(bytes, step);
    *capacity = eighths > UINT64_MAX / step ? bytes : eighths * step;
    uint32_t bin = (log2 - 8) * 8 + (uint32_t)(eighths - 8);
    return bin < JIT_POOL_BINS ? bin : JIT_POOL_BINS - 1;
}

collet_status jit_pool_init(jit_pool *pool, uint64_t limit)
{
    memset(pool, 0, sizeof *pool);
    pool->limit = limit;
    pool->most = UINT64_MAX;
    return pthread_mutex_init(&pool->lock, NULL) ? COLLET_FAILED : COLLET_OK;
}

void jit_pool_destroy(jit_pool *pool, collet_device *device)
{
    jit_pool_trim(pool, device);
    pthread_mutex_destroy(&pool->lock);
}

/* Takes the buffer at `at` out of its bin. The caller holds the lock. */
static collet_buffer *take_out(jit_pool *pool, collet_buffer **at)
{
    collet_buffer *b = *at;
    *at = b->next;
    pool->idle -= b->capacity;
    return b;
}

/* Takes out the buffer that was freed first, which is the last of a bin. The caller holds the lock, and the pool has a
 * buffer. */
static collet_buffer *take_oldest(jit_pool *pool)
{
    collet_buffer **oldest = NULL;
    for (uint32_t bin = 0; bin < JIT_POOL_BINS; bin++) {
        collet_buffer **at = &pool->bins[bin];
        while (*at && (*at)->next)
            at = &(*at)->next;
        if (*at && (!oldest || (*at)->number < (*oldest)->number))
            oldest = at;
    }
    return take_out(pool, oldest);
}

/* Returns the oldest buffers to the device until the pool has at most `most` bytes. */
static void shrink(jit_pool *pool, collet_device *device, uint64_t most)
{
    collet_buffer *all = NULL;
    pthread_mutex_lock(&pool->lock);
    while (pool->idle > most) {
        collet_buffer *b = take_oldest(pool);
        pool->reserved -= b->capacity;
        b->next = all;
        all = b;
    }
    pthread_mutex_unlock(&pool->lock);
    while (all) {
        collet_buffer *b = all;
        all = b->next;
        jit_driver_of(device)->memory->give(device, b->memory);
        free(b);
    }
}

void jit_pool_trim(jit_pool *pool, collet_device *device)
{
    shrink(pool, device, 0);
}

/* Takes a pooled buffer that is large enough, but at most about twice as large, from the first
 * bin with such a buffer: the bin of the size or one of the next eight bins. The caller holds the
 * lock. */
static collet_buffer *reuse(jit_pool *pool, uint32_t bin, uint64_t bytes)
{
    for (uint32_t larger = 0; larger <= 8 && bin + larger < JIT_POOL_BINS; larger++) {
        collet_buffer **at = &pool->bins[bin + larger];
        while (*at && ((*at)->capacity < bytes || (*at)->capacity / 2 > bytes + LEAST))
            at = &(*at)->next;
        if (*at)
            return take_out(pool, at);
    }
    return NULL;
}

static void count_taken(jit_pool *pool, uint64_t bytes)
{
    pool->current += bytes;
    if (pool->current > pool->peak)
        pool->peak = pool->current;
}

/* Counts `bytes` as reserved; returns 0 if that would exceed the limit. The caller holds the lock. */
static int reserve(jit_pool *pool, uint64_t bytes)
{
    if (bytes > pool->limit || pool->reserved > pool->limit - bytes)
        return 0;
    pool->reserved += bytes;
    return 1;
}

static void *take(jit_pool *pool, collet_device *device, uint64_t bytes)
{
    pthread_mutex_lock(&pool->lock);
    int fits = reserve(pool, bytes);
    pthread_mutex_unlock(&pool->lock);
    if (!fits)
        return NULL;
    void *memory = jit_driver_of(device)->memory->take(device, bytes);
    if (!memory) {
        pthread_mutex_lock(&pool->lock);
        pool->reserved -= bytes;
        pthread_mutex_unlock(&pool->lock);
    }
    return memory;
}

/* Allocates the rounded size. If that fails, empties the pool and tries again. If that fails too, allocates the
 * exact size. */
static collet_status create(jit_pool *pool, collet_device *device, uint64_t bytes,
                            uint64_t capacity, collet_buffer **buffer, collet_error *err)
{
    const collet_host *host = jit_host(device);
    collet_buffer *b = calloc(1, sizeof *b);
    if (!b)
        return host->fail(err, COLLET_NO_MEMORY, "out of memory for the description of a buffer");
    b->capacity = capacity;
    b->memory = take(pool, device, capacity);
    if (!b->memory) {
        jit_pool_trim(pool, device);
        b->memory = take(pool, device, capacity);
    }
    if (!b->memory) {
        b->capacity = bytes;
        b->memory = take(pool, device, bytes);
    }
    if (!b->memory) {
        free(b);
        return host->fail(err, COLLET_REFUSED,
                          "cannot allocate %llu bytes of device memory: %llu of %llu are in use",
                          (unsigned long long)bytes, (unsigned long long)pool->reserved,
                          (unsigned long long)pool->limit);
    }
    *buffer = b;
    return COLLET_OK;
}

collet_status jit_pool_alloc(jit_pool *pool, collet_device *device, uint64_t bytes,
                             collet_buffer **buffer, collet_error *err)
{
    uint64_t capacity;
    uint32_t bin = bin_of(bytes, &capacity);
    pthread_mutex_lock(&pool->lock);
    collet_buffer *b = reuse(pool, bin, bytes);
    pthread_mutex_unlock(&pool->lock);
    if (!b) {
        collet_status status = create(pool, device, bytes, capacity, &b, err);
        if (status != COLLET_OK)
            return status;
    }
    b->bytes = bytes;
    b->next = NULL;
    pthread_mutex_lock(&pool->lock);
    count_taken(pool, bytes);
    pthread_mutex_unlock(&pool->lock);
    *buffer = b;
    return COLLET_OK;
}

void jit_pool_free(jit_pool *pool, collet_device *device, collet_buffer *b)
{
    uint64_t capacity;
    if (!b)
        return;
    if (b->imported) {
        if (jit_driver_of(device)->memory->disown)
            jit_driver_of(device)->memory->disown(device, b->memory);
        free(b);
        return;
    }
    uint32_t bin = bin_of(b->capacity, &capacity);
    pthread_mutex_lock(&pool->lock);
    pool->current -= b->bytes;
    pool->idle += b->capacity;
    b->number = pool->freed++;
    b->next = pool->bins[bin];
    pool->bins[bin] = b;
    int full = pool->idle > pool->most;
    pthread_mutex_unlock(&pool->lock);
    if (full)
        shrink(pool, device, pool->most);
}

collet_status jit_pool_import(collet_device *device, void *memory, uint64_t bytes,
                              collet_buffer **buffer, collet_error *err)
{
    collet_buffer *b = calloc(1, sizeof *b);
    if (!b)
        return jit_host(device)->fail(err, COLLET_NO_MEMORY,
                                      "out of memory for the description of a buffer");
    b->memory = memory;
    b->bytes = b->capacity = bytes;
    b->imported = 1;
    *buffer = b;
    return COLLET_OK;
}

void jit_pool_stats(jit_pool *pool, collet_memory_stats *stats)
{
    pthread_mutex_lock(&pool->lock);
    stats->current = pool->current;
    stats->held = pool->reserved;
    stats->peak = pool->peak;
    stats->total = 0;
    stats->available = 0;
    pthread_mutex_unlock(&pool->lock);
}

void jit_pool_reset_peak(jit_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    pool->peak = pool->current;
    pthread_mutex_unlock(&pool->lock);
}
