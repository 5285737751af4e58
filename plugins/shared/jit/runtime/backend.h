/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backend.h - the shared code of backends that compile kernels at run time: functions for slots of a
 * collet_plugin, buffers (jit_pool), and, by the headers included here, queues (queue.h), programs (program.h) and
 * transfers (staging.h). driver.h lists the functions that the backend implements.
 */
#pragma once

#include <collet/extensions.h>

#include "driver.h"
#include "launch.h"
#include "program.h"
#include "queue.h"
#include "staging.h"

/*
 * A pool of device buffers.
 *
 * A buffer may be freed only when no command uses it. Sizes are rounded up to multiples of an eighth of a power of
 * two, so that buffers of similar sizes are interchangeable; a freed buffer is reused for sizes down to half its own
 * size. At most `most` bytes of freed buffers are kept: the oldest buffers are returned to the device.
 *
 * All functions may be called by any thread.
 */

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

/* Sets base.options: the options `first`, then options that define macros for the traits. */
void jit_options(collet_device *device, const char *first);

/* How much of the host's memory the process may use; all zeros if libcore does not know. */
collet_memory_limit jit_host_memory(const collet_host *host);

/* Functions for slots of collet_plugin. `self` must be the first member of a jit_driver. */
collet_status jit_device_open(const collet_plugin *self, collet_device **device,
                              collet_device_properties *properties, const collet_host *host,
                              uint32_t index, const char *name, collet_error *err);
void jit_device_close(collet_device *device);
int32_t jit_device_supports(collet_device *device, uint32_t row);
collet_status jit_buffer_alloc(collet_device *device, collet_buffer **buffer, uint64_t bytes,
                               collet_error *err);
void jit_buffer_free(collet_device *device, collet_buffer *buffer);
/* The driver's extensions, and collet.copy/1, collet.memory/1 and collet.trim/1. */
const void *jit_extension(collet_device *device, const char *name);

/* Initialisers for the slots of a collet_plugin that are the same for all backends; they follow PLUGIN_HEAD. */
#define JIT_SLOTS                                                                                  \
    .device_open = jit_device_open, .device_close = jit_device_close,                              \
    .device_supports = jit_device_supports, .buffer_alloc = jit_buffer_alloc,                      \
    .buffer_free = jit_buffer_free, .buffer_write = jit_buffer_write,                              \
    .buffer_read = jit_buffer_read, .queue_create = jit_queue_create,                              \
    .queue_destroy = jit_queue_destroy, .queue_mark = jit_queue_mark,                              \
    .queue_wait = jit_queue_wait, .queue_after = jit_queue_after, .extension = jit_extension
