/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool.h - a pool of device buffers.
 *
 * No command uses a buffer that is freed. Sizes are rounded up to an eighth of a power of two, so
 * that buffers of similar size are interchangeable; a freed buffer serves sizes down to half of its
 * own. At most `most` bytes of freed buffers are kept: the oldest go back to the device.
 *
 * All functions: any thread.
 */
#ifndef PLUGINS_SHARED_JIT_RUNTIME_POOL_H
#define PLUGINS_SHARED_JIT_RUNTIME_POOL_H

#include <collet/extensions.h>

#include "driver.h"

/* COLLET_OK, or COLLET_FAILED when the lock cannot be created. */
collet_status jit_pool_init(jit_pool *pool, uint64_t limit);
/* Frees all memory; no buffer is in use. */
void jit_pool_destroy(jit_pool *pool, collet_device *device);

/* REFUSED where device memory is short even after emptying the pool. NO_MEMORY of the host. */
collet_status jit_pool_alloc(jit_pool *pool, collet_device *device, uint64_t bytes,
                             collet_buffer **buffer, collet_error *err);
void jit_pool_free(jit_pool *pool, collet_device *device, collet_buffer *buffer);

/* Wraps memory that the caller owns. */
collet_status jit_pool_import(collet_device *device, void *memory, uint64_t bytes,
                              collet_buffer **buffer, collet_error *err);

/* Frees unused buffers. */
void jit_pool_trim(jit_pool *pool, collet_device *device);
/* current, reserved and peak; the others are 0. */
void jit_pool_stats(jit_pool *pool, collet_memory_stats *stats);
/* peak becomes current. */
void jit_pool_reset_peak(jit_pool *pool);

#endif
