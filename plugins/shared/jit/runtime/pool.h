/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool.h - a pool of device buffers.
 *
 * A buffer may be freed only when no command uses it. Sizes are rounded up to multiples of an eighth of a power of two,
 * so that buffers of similar sizes are interchangeable; a freed buffer is reused for sizes down to half of its size.
 * At most `most` bytes of freed buffers are kept: the oldest buffers are returned to the device.
 *
 * All functions may be called by any thread.
 */
#ifndef PLUGINS_SHARED_JIT_RUNTIME_POOL_H
#define PLUGINS_SHARED_JIT_RUNTIME_POOL_H

#include <collet/extensions.h>

#include "driver.h"

/* COLLET_OK, or COLLET_FAILED when the lock cannot be created. */
collet_status jit_pool_init(jit_pool *pool, uint64_t limit);
/* Frees all memory; no buffer may be in use. */
void jit_pool_destroy(jit_pool *pool, collet_device *device);

/* REFUSED if device memory is short even after the pool was emptied; NO_MEMORY if host memory is short. */
collet_status jit_pool_alloc(jit_pool *pool, collet_device *device, uint64_t bytes,
                             collet_buffer **buffer, collet_error *err);
void jit_pool_free(jit_pool *pool, collet_device *device, collet_buffer *buffer);

/* Wraps memory that the caller owns. */
collet_status jit_pool_import(collet_device *device, void *memory, uint64_t bytes,
                              collet_buffer **buffer, collet_error *err);

/* Frees unused buffers. */
void jit_pool_trim(jit_pool *pool, collet_device *device);
/* Sets current, reserved and peak; the other members become 0. */
void jit_pool_stats(jit_pool *pool, collet_memory_stats *stats);
/* Sets `peak` to `current`. */
void jit_pool_reset_peak(jit_pool *pool);

#endif
