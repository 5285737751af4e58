/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that native handles and DLPack share. Errors go to the context. */
#pragma once

#include "array.h"
#include "context/context.h"

/* `d`: NULL for the host; else a device with collet.native/1. */
collet_status native_describe(device *d, collet_native_device *native, collet_error *err);

/* Acquires the storage in the context's queue, and returns the handle of the buffer. */
collet_status native_acquire(collet_context *cx, collet_array *a, device *d, int32_t access,
                             int wait, void **handle);

/* Creates the storage of an array that array_wrapping made; the storage wraps foreign memory of `d`. */
collet_status native_wrap(collet_context *cx, device *d, collet_array *a, void *handle,
                          uint64_t offset, uint32_t flags, void (*deleter)(void *user), void *user);
