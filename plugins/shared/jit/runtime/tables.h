/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tables.h - an LRU cache of tables of constants. The host computes a table for kernels and writes it to the device
 * at the first call that needs it; a trim empties the cache. Another queue that uses the table is
 * ordered after the queue that wrote the table. The host waits for the device only to free a table.
 *
 * All functions may be called by any thread.
 */
#pragma once

#include "shared/host/util/plan_cache.h"
#include "driver.h"

typedef struct jit_table {
    cached_plan head;
    collet_buffer *buffer;
    collet_device *device;
    collet_queue *writer; /* the queue that wrote the table; the write is complete at `ticket` */
    uint64_t ticket;
} jit_table;

/* Writes the table's bytes; 0 when out of memory. `context` is the caller's. */
typedef int (*jit_table_fill)(void *bytes, const void *context);

/* Gets the table of `key`, of `bytes` (> 0) bytes, for launches in `queue`; jit_table_give releases it after they are
 * enqueued. Returns COLLET_OK; REFUSED when memory is short; or the status of the write that failed. */
collet_status jit_table_take(collet_device *device, collet_queue *queue, const plan_key *key,
                             uint64_t bytes, jit_table_fill fill, const void *context,
                             jit_table **table, collet_error *err);
void jit_table_give(jit_table *table);

/* The cache of a device, jit_base.tables; NULL when out of memory. It is destroyed before the pool. */
plan_cache *jit_tables_create(void);
