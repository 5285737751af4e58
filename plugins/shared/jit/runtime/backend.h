/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backend.h - what a backend that compiles kernels at run time builds on: its device and queues
 * (base.h, queue.h), programs and transfers (program.h, staging.h), and the slots of the vtable
 * that need no driver. What the backend itself implements stands at the end.
 */
#ifndef COLLET_JIT_RUNTIME_BACKEND_H
#define COLLET_JIT_RUNTIME_BACKEND_H

#include "base.h"
#include "program.h"
#include "queue.h"
#include "staging.h"

/* ---- backend.c: the device ------------------------------------------------------------------- */

/* Writes base.options: `first`, then what the traits define. */
void jit_options(collet_device *device, const char *first);

/* Before a command of `queue` that uses these buffers is enqueued: orders it after their last
 * owners. DEVICE_LOST. */
collet_status jit_before(collet_device *device, collet_buffer *const *buffers, uint32_t count,
                         collet_queue *queue, collet_error *err);

/* Slots. */
collet_status jit_device_open(const collet_host *host, uint32_t index, collet_device **device,
                              collet_error *err);
void jit_device_close(collet_device *device);
int32_t jit_device_supports(collet_device *device, uint32_t row);
collet_status jit_buffer_alloc(collet_device *device, uint64_t bytes, collet_buffer **buffer,
                               collet_error *err);
void jit_buffer_free(collet_device *device, collet_buffer *buffer);
collet_status jit_memory_stats(collet_device *device, collet_memory_stats *stats,
                               collet_error *err);
void jit_trim(collet_device *device);

/* ---- between.c ------------------------------------------------------------------------------- */

/* Slot. */
collet_status jit_copy_between(collet_device *device, collet_queue *queue, collet_buffer *target,
                               uint64_t target_offset, const collet_plugin *of, collet_device *from,
                               collet_queue *from_queue, collet_buffer *source,
                               uint64_t source_offset, uint64_t bytes, collet_error *err);

/* ---- What a backend implements --------------------------------------------------------------- */

/* Finds device `index` and makes it ready; fills traits, total_memory, staging (what it is unless
 * NAME.staging is set), options and identity. The rest of *device is zeroed. jit_backend_close
 * follows whatever comes of it. */
collet_status jit_backend_open(collet_device *device, uint32_t index, collet_error *err);
void jit_backend_close(collet_device *device);
/* A part of a buffer that another device may read. */
typedef struct jit_export {
    collet_buffer *buffer;
    uint64_t offset;
    void *address;   /* that the other device reads */
    uint64_t ticket; /* of the buffer's own queue, after which it may */
} jit_export;

/* Whether `device` reads the memory of `from`, another device of this backend, by itself. */
int jit_reaches(collet_device *device, collet_device *from);
/* In `queue`, of the buffer's device: sets the address and the ticket. */
collet_status jit_export_begin(collet_queue *queue, uint64_t bytes, jit_export *export,
                               collet_error *err);
/* In `queue`, which was ordered after the ticket: reads the exported range into `target`. */
collet_status jit_export_read(collet_queue *queue, collet_buffer *target, uint64_t offset,
                              collet_device *from, const jit_export *export, uint64_t bytes,
                              uint64_t *ticket, collet_error *err);
/* In the lender's queue, which was ordered after the other device has read: a ticket after that. */
uint64_t jit_export_end(collet_queue *queue, const jit_export *export);

#endif
