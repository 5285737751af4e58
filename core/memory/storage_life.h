/* SPDX-License-Identifier: Apache-2.0 */
/* storage_life - creates storages, and frees them when the last reference is dropped. */
#pragma once

#include "storage.h"

/* Creates a storage of `bytes` uninitialised bytes; host memory is allocated at its first use, or with the storage if
 * it has few bytes. `behind`: bytes for the caller behind the struct, which are freed with the storage. */
collet_status storage_create(collet_runtime *runtime, uint64_t bytes, size_t behind, storage **out,
                             collet_error *err);
/* Wraps the caller's memory. When the last reference is dropped, results of devices are copied to
 * the memory, then the deleter runs. */
collet_status storage_wrap(collet_runtime *runtime, void *data, uint64_t bytes,
                           void (*deleter)(void *user), void *user, storage **out,
                           collet_error *err);
/* Like storage_wrap, for memory of a device: an imported block, which the storage then owns. */
collet_status storage_wrap_block(collet_runtime *runtime, block *b, void (*deleter)(void *user),
                                 void *user, storage **out, collet_error *err);
void storage_retain(storage *s);
void storage_release(storage *s);
