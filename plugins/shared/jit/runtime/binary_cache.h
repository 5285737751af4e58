/* SPDX-License-Identifier: Apache-2.0 */
/*
 * binary_cache.h - an on-disk cache of compiled programs, in the directory `kernels` of Collet's
 * cache directory. Never trusted: the directory and its files must belong to the user alone, a file
 * with a wrong key or checksum is a miss, and no failure here is an error. Any thread.
 */
#ifndef PLUGINS_SHARED_JIT_RUNTIME_BINARY_CACHE_H
#define PLUGINS_SHARED_JIT_RUNTIME_BINARY_CACHE_H

#include <limits.h>

#include <collet/plugin.h>

/* A 64-bit hash of `bytes` bytes, continued from `hash` (any number to begin with). */
uint64_t binary_hash(uint64_t hash, const void *data, uint64_t bytes);

/*
 * The binary stored under `key` (all that it depends on: source, options, device, driver), or NULL;
 * *bytes is its size. The caller frees it. Settings "cache" and "cache_dir" are the host's; with
 * raised privileges the cache is off.
 */
void *binary_cache_get(const collet_host *host, const char *key, uint64_t *bytes);

/* Stores a binary; evicts the oldest beyond BINARY_CACHE_FILES or _BYTES. */
void binary_cache_put(const collet_host *host, const char *key, const void *binary, uint64_t bytes);

/* Writes the absolute path of the directory; 0 if the cache is off. */
int binary_cache_directory(const collet_host *host, char path[PATH_MAX]);
/* Whether binaries can be kept there; makes the directory. */
int binary_cache_usable(const collet_host *host);

/* Removes a binary that the driver rejected. */
void binary_cache_drop(const collet_host *host, const char *key);

#define BINARY_CACHE_FILES 2048
#define BINARY_CACHE_BYTES ((uint64_t)512 << 20)

#endif
