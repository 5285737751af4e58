/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool.h - a pool of device buffers.
 *
 * A freed buffer returns to the pool at once, although commands that use it may be pending: it
 * records the queues that used it and their last tickets, and its next user is ordered after those
 * (implicitly in the same queue, by an event in another; the host never waits). Sizes are rounded
 * up to an eighth of a power of two, so that buffers of similar size are interchangeable.
 *
 * All functions: any thread.
 */
#ifndef COLLET_JIT_RUNTIME_POOL_H
#define COLLET_JIT_RUNTIME_POOL_H

#include <pthread.h>

#include <collet/plugin.h>

#define JIT_USES 4
#define JIT_POOL_BINS 512

/* The commands of a queue up to a ticket; tickets count a queue's commands from 1. */
typedef struct jit_use {
    collet_queue *queue;
    uint64_t ticket;
} jit_use;

struct collet_buffer {
    void *memory;      /* the driver's handle */
    uint64_t bytes;    /* as requested */
    uint64_t capacity; /* as allocated */
    uint32_t imported; /* `memory` belongs to a caller */
    uint32_t recycled; /* `uses` are those of its previous owner */
    uint32_t use_count;
    jit_use uses[JIT_USES];
    collet_buffer *next;
};

typedef struct jit_pool {
    pthread_mutex_t lock;
    uint64_t limit; /* upper limit of `reserved` */
    uint64_t current, reserved, peak;
    collet_buffer *bins[JIT_POOL_BINS];
} jit_pool;

/* COLLET_OK, or COLLET_FAILED when the lock cannot be created. */
collet_status jit_pool_init(jit_pool *pool, uint64_t limit);
/* Frees all memory; no buffer is in use and no command pending. */
void jit_pool_destroy(jit_pool *pool, collet_device *device);

/* REFUSED where device memory is short even after emptying the pool. NO_MEMORY of the host. */
collet_status jit_pool_alloc(jit_pool *pool, collet_device *device, uint64_t bytes,
                             collet_buffer **buffer, collet_error *err);
void jit_pool_free(jit_pool *pool, collet_device *device, collet_buffer *buffer);

/* Wraps memory that the caller owns. */
collet_status jit_pool_import(collet_device *device, void *memory, uint64_t bytes,
                              collet_buffer **buffer, collet_error *err);

/* Before a command of `queue` that uses these buffers (NULLs are skipped) is enqueued: orders it
 * after their previous users. */
collet_status jit_pool_before(jit_pool *pool, collet_buffer *const *buffers, uint32_t count,
                              collet_queue *queue, collet_error *err);
/* After it is enqueued: records that ticket `ticket` of `queue` uses them. */
void jit_pool_used(jit_pool *pool, collet_buffer *const *buffers, uint32_t count,
                   collet_queue *queue, uint64_t ticket);

/* Frees unused buffers. */
void jit_pool_trim(jit_pool *pool, collet_device *device);
/* current, reserved and peak; the others are 0. */
void jit_pool_stats(jit_pool *pool, collet_memory_stats *stats);
/* peak becomes current. */
void jit_pool_reset_peak(jit_pool *pool);

/* ---- What a backend implements ------------------------------------------------------------- */

/* Allocates device memory; NULL on failure. */
void *jit_memory_take(collet_device *device, uint64_t bytes);
/* All commands that use it are complete. */
void jit_memory_give(collet_device *device, void *memory);
/* As jit_memory_give, for an imported buffer: releases what the import acquired. */
void jit_memory_disown(collet_device *device, void *memory);
/* Queue handles live as long as their device; tickets never restart. */
int jit_queue_passed(collet_queue *queue, uint64_t ticket);
void jit_queue_await(collet_queue *queue, uint64_t ticket);
/* Commands enqueued in `queue` from now on start after `ticket` of `other`, which may be a queue of
 * another device. */
collet_status jit_queue_order(collet_queue *queue, collet_queue *other, uint64_t ticket,
                              collet_error *err);

#endif
