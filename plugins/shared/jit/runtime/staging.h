/* SPDX-License-Identifier: Apache-2.0 */
/*
 * staging.h - page-locked memory that transfers go through. Two pieces a queue, taken at the first
 * transfer of more than 64 KiB and given back by trim.
 */
#ifndef COLLET_JIT_RUNTIME_STAGING_H
#define COLLET_JIT_RUNTIME_STAGING_H

#include "base.h"

/* Bytes of a piece on devices with their own memory. */
#define JIT_STAGING ((uint64_t)4 << 20)

/* Parses the setting: bytes of a piece, or "off", which is 0; `otherwise` where it is not set. */
uint64_t jit_staging_size(const collet_host *host, const char *setting, uint64_t otherwise);

/* Frees the page-locked memory of all queues, once their transfers are complete. */
void jit_staging_release(collet_device *device);

/* Slots. Host memory that is already page-locked, and all transfers if base.staging is 0, go
 * directly to jit_write and jit_read. */
collet_status jit_buffer_write(collet_device *device, collet_queue *queue, collet_buffer *buffer,
                               uint64_t offset, const void *source, uint64_t bytes,
                               collet_error *err);
collet_status jit_buffer_read(collet_device *device, collet_queue *queue, collet_buffer *buffer,
                              uint64_t offset, void *target, uint64_t bytes, collet_error *err);

/* ---- What a backend implements --------------------------------------------------------------- */

/* As the slots buffer_write and buffer_read. `pinned`: the address is in a piece and stays valid
 * until the ticket is complete; the call only enqueues. */
collet_status jit_write(collet_device *device, collet_queue *queue, collet_buffer *buffer,
                        uint64_t offset, const void *source, uint64_t bytes, int pinned,
                        collet_error *err);
collet_status jit_read(collet_device *device, collet_queue *queue, collet_buffer *buffer,
                       uint64_t offset, void *target, uint64_t bytes, int pinned,
                       collet_error *err);
/* Whether the address is known to be in page-locked memory. */
int jit_pinned(collet_device *device, const void *address);
/* 0: allocation failed. */
int jit_pinned_take(collet_queue *queue, uint64_t bytes, jit_piece *piece);
/* No pending command uses it. */
void jit_pinned_give(collet_queue *queue, jit_piece *piece);

#endif
