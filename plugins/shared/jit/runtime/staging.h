/* SPDX-License-Identifier: Apache-2.0 */
/* staging.h - page-locked memory that transfers go through. Each queue has two pieces, which are allocated at its
 * first transfer of more than 64 KiB and freed by trim. */
#pragma once

#include "driver.h"

/* The default size of a piece, in bytes, for devices with their own memory. */
#define JIT_STAGING ((uint64_t)4 << 20)

/* Parses a setting that is a number of bytes or "off" (0); returns `otherwise` if it is not set. */
uint64_t jit_staging_size(const collet_host *host, const char *setting, uint64_t otherwise);

/* Frees the page-locked memory of all queues, once their transfers are complete. */
void jit_staging_release(collet_device *device);

/* Functions for slots of collet_plugin. A transfer calls the slots `write` and `read` of the driver directly, without
 * a piece, if the host memory is already page-locked or base.staging is 0. */
collet_status jit_buffer_write(collet_device *device, collet_queue *queue, collet_buffer *buffer,
                               uint64_t offset, const void *source, uint64_t bytes,
                               collet_error *err);
collet_status jit_buffer_read(collet_device *device, collet_queue *queue, collet_buffer *buffer,
                              uint64_t offset, void *target, uint64_t bytes, collet_error *err);
