/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backend.h - the common part of the backends that compile kernels at run time: device and queues
 * (base.h, queue.h), programs and transfers (program.h, staging.h), and the vtable slots that need
 * no driver. The end lists what a backend implements.
 */
#ifndef COLLET_JIT_RUNTIME_BACKEND_H
#define COLLET_JIT_RUNTIME_BACKEND_H

#include "base.h"
#include "program.h"
#include "queue.h"
#include "staging.h"

/* ---- backend.c: the device ------------------------------------------------------------------- */

/* Writes base.options: `first`, then the macros of the traits. */
void jit_options(collet_device *device, const char *first);

/* Before a command is enqueued: DEVICE_LOST. */
collet_status jit_check(collet_device *device, collet_error *err);

/* Slots. */
collet_status jit_device_open(const collet_host *host, uint32_t index,
                              collet_device_properties *properties, collet_device **device,
                              collet_error *err);
void jit_device_close(collet_device *device);
int32_t jit_device_supports(collet_device *device, uint32_t row);
collet_status jit_buffer_alloc(collet_device *device, uint64_t bytes, collet_buffer **buffer,
                               collet_error *err);
void jit_buffer_free(collet_device *device, collet_buffer *buffer);
/* Of collet.memory/1. */
collet_status jit_memory_stats(collet_device *device, collet_memory_stats *stats,
                               collet_error *err);
void jit_memory_reset_peak(collet_device *device);
const void *jit_extension(collet_device *device, const char *name);
/* Of collet.trim/1. */
void jit_trim(collet_device *device);

/* ---- between.c ------------------------------------------------------------------------------- */

/* Of collet.copy/1. */
collet_status jit_copy_between(collet_device *device, collet_queue *queue, collet_buffer *target,
                               uint64_t target_offset, const collet_plugin *of, collet_device *from,
                               collet_queue *from_queue, collet_buffer *source,
                               uint64_t source_offset, uint64_t bytes, collet_error *err);

/* ---- The vtable ------------------------------------------------------------------------------ */

/* The slots that all backends have in common, as initialisers of a collet_plugin. */
#define JIT_SLOTS                                                                                  \
    .abi = COLLET_ABI, .struct_size = sizeof(collet_plugin),                                       \
    .kernel_size = sizeof(collet_kernel_row), .device_open = jit_device_open,                      \
    .device_close = jit_device_close, .device_supports = jit_device_supports,                      \
    .buffer_alloc = jit_buffer_alloc, .buffer_free = jit_buffer_free,                              \
    .buffer_write = jit_buffer_write, .buffer_read = jit_buffer_read,                              \
    .queue_create = jit_queue_create, .queue_destroy = jit_queue_destroy,                          \
    .queue_mark = jit_queue_mark, .queue_wait = jit_queue_wait, .queue_after = jit_queue_after,    \
    .extension = jit_extension

/* ---- What a backend implements --------------------------------------------------------------- */

/* Slots. */
/* Opens device `index`; sets traits, total_memory, staging (the default of NAME.staging), options
 * and identity. The rest of *device is zeroed. jit_backend_close follows even on failure. */
collet_status jit_backend_open(collet_device *device, uint32_t index, collet_error *err);
void jit_backend_close(collet_device *device);
/* A range of a buffer that another device may read. */
typedef struct jit_export {
    collet_buffer *buffer;
    uint64_t offset;
    void *address;   /* the address for the other device */
    uint64_t ticket; /* of the buffer's queue, after which it is readable */
} jit_export;

/* Whether `device` can read the memory of `from`, another device of this backend, directly. */
int jit_reaches(collet_device *device, collet_device *from);
/* In `queue`, on the buffer's device: sets the address and the ticket. */
collet_status jit_export_begin(collet_queue *queue, uint64_t bytes, jit_export *export,
                               collet_error *err);
/* In `queue`, already ordered after the ticket: reads the exported range into `target`. */
collet_status jit_export_read(collet_queue *queue, collet_buffer *target, uint64_t offset,
                              collet_device *from, const jit_export *export, uint64_t bytes,
                              uint64_t *ticket, collet_error *err);
/* In the exporting queue, already ordered after the other device's read. */
void jit_export_end(collet_queue *queue, const jit_export *export);

#endif
