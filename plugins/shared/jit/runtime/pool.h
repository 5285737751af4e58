/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool.h - device buffers that are used again.
 *
 * A freed buffer goes back to the pool at once, although work that uses it may still be under way:
 * it remembers which queues used it up to which ticket, and whoever gets it next comes after those
 * (at once in the same queue; by an order between queues in another; the host never waits). Sizes
 * are rounded up to an eighth of a power of two, so that a buffer fits the next of about its size.
 *
 * All functions: any thread.
 */
#ifndef COLLET_JIT_RUNTIME_POOL_H
#define COLLET_JIT_RUNTIME_POOL_H

#include <pthread.h>

#include <collet/plugin.h>

#define JIT_USES 4
#define JIT_POOL_BINS 512

/* Work of a queue up to a ticket, which counts the commands of that queue from 1. */
typedef struct jit_use {
    collet_queue *queue;
    uint64_t ticket;
} jit_use;

struct collet_buffer {
    void *memory;      /* the driver's handle */
    uint64_t bytes;    /* as asked for */
    uint64_t capacity; /* as held */
    uint32_t imported; /* `memory` is a caller's */
    uint32_t recycled; /* `uses` are those of its last owner */
    uint32_t use_count;
    jit_use uses[JIT_USES];
    collet_buffer *next;
};

typedef struct jit_pool {
    pthread_mutex_t lock;
    uint64_t limit; /* bytes that may be reserved */
    uint64_t current, reserved, peak;
    collet_buffer *bins[JIT_POOL_BINS];
} jit_pool;

/* COLLET_OK, or COLLET_FAILED without a lock. */
collet_status jit_pool_init(jit_pool *pool, uint64_t limit);
/* Gives everything back; no buffer is in use and no work under way. */
void jit_pool_destroy(jit_pool *pool, collet_device *device);

/* REFUSED where memory is short, also after the pool was emptied. NO_MEMORY of the host. */
collet_status jit_pool_alloc(jit_pool *pool, collet_device *device, uint64_t bytes,
                             collet_buffer **buffer, collet_error *err);
void jit_pool_free(jit_pool *pool, collet_device *device, collet_buffer *buffer);

/* A buffer around memory of the caller's. */
collet_status jit_pool_import(collet_device *device, void *memory, uint64_t bytes,
                              collet_buffer **buffer, collet_error *err);

/* Before a command of `queue` that uses these buffers (NULLs are passed over) is enqueued: orders
 * it after their last owners. */
collet_status jit_pool_before(jit_pool *pool, collet_buffer *const *buffers, uint32_t count,
                              collet_queue *queue, collet_error *err);
/* After it was: ticket `ticket` of `queue` uses them. */
void jit_pool_used(jit_pool *pool, collet_buffer *const *buffers, uint32_t count,
                   collet_queue *queue, uint64_t ticket);

/* Gives unused buffers back to the device. */
void jit_pool_trim(jit_pool *pool, collet_device *device);
/* current, reserved and peak; the others are 0. */
void jit_pool_stats(jit_pool *pool, collet_memory_stats *stats);

/* ---- What a backend implements ------------------------------------------------------------- */

/* Memory of the device; NULL where there is none. */
void *jit_memory_take(collet_device *device, uint64_t bytes);
/* Work under way that uses it was waited for. */
void jit_memory_give(collet_device *device, void *memory);
/* As jit_memory_give, of an imported buffer: whatever was taken when it came in is let go. */
void jit_memory_disown(collet_device *device, void *memory);
/* Queue handles live as long as their device, tickets never begin again. */
int jit_queue_passed(collet_queue *queue, uint64_t ticket);
void jit_queue_await(collet_queue *queue, uint64_t ticket);
/* What is enqueued in `queue` from now on starts after `ticket` of `other`, which may be a queue of
 * another device. */
collet_status jit_queue_order(collet_queue *queue, collet_queue *other, uint64_t ticket,
                              collet_error *err);

#endif
