/* SPDX-License-Identifier: Apache-2.0 */
/* binary_cache.h - an on-disk cache of compiled programs, in the directory `kernels` of Collet's
 * cache directory. Its contents are not trusted: the directory and its files must belong to the user alone, and a file
 * with a wrong key or checksum counts as missing. A failure of the cache is never an error. The functions may be
 * called by any thread. */
#pragma once

#include <limits.h>

#include <collet/plugin.h>

/* A 64-bit hash of `bytes` bytes, which continues `hash`; the first call may pass any number. */
uint64_t binary_hash(uint64_t hash, const void *data, uint64_t bytes);

/* The binary stored under `key` (all that it depends on: source, options, device, driver), or NULL;
 * *bytes is its size. The caller frees it. The settings "cache" and "cache_dir" of libcore apply; with
 * raised privileges the cache is off. */
void *binary_cache_get(const collet_host *host, const char *key, uint64_t *bytes);

/* Stores a binary. If the cache then exceeds BINARY_CACHE_FILES or BINARY_CACHE_BYTES, removes the binaries that were
 * used least recently. */
void binary_cache_put(const collet_host *host, const char *key, const void *binary, uint64_t bytes);

/* Writes the absolute path of the directory; 0 if the cache is off. */
int binary_cache_directory(const collet_host *host, char path[PATH_MAX]);
/* Whether binaries can be kept in the directory; creates it if needed. */
int binary_cache_usable(const collet_host *host);

/* Removes a binary that the driver rejected. */
void binary_cache_drop(const collet_host *host, const char *key);

#define BINARY_CACHE_FILES 2048
#define BINARY_CACHE_BYTES ((uint64_t)512 << 20)
