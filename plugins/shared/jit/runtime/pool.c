/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/cuda/test_cuda_device.c, tests/opencl/test_opencl.c */
#include "pool.h"

#include <stdlib.h>
#include <string.h>

#include "launch.h"

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

/* Takes the smallest pooled buffer that is large enough, but at most twice as large: it is in the bin of the size or
 * in one of the next eight. The caller holds the lock. */
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

/* Allocates the rounded size; if that fails, empties the pool and tries again; if that fails, allocates the exact
 * size. */
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
