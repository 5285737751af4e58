/* SPDX-License-Identifier: Apache-2.0 */
/*
 * binary_cache.h - compiled programs kept on disk from one process to the next, in the directory
 * `kernels` of Collet's cache directory. A hint, never trusted: the directory and its files must be
 * the user's alone, what does not have the right key and checksum counts as not there, and nothing
 * that goes wrong is an error. Any thread.
 */
#ifndef COLLET_JIT_RUNTIME_BINARY_CACHE_H
#define COLLET_JIT_RUNTIME_BINARY_CACHE_H

#include <collet/plugin.h>

/* 64 bits of `bytes` bytes, going on from `hash` (any number to begin with). */
uint64_t binary_hash(uint64_t hash, const void *data, uint64_t bytes);

/*
 * The binary that was put under `key` (all that it depends on: source, options, device, driver), or
 * NULL; *bytes is its size. The caller frees it. Settings "cache" and "cache_dir" are the host's;
 * under raised privilege nothing is kept and nothing found.
 */
void *binary_cache_get(const collet_host *host, const char *key, uint64_t *bytes);

/* Keeps a binary; the oldest go when there are more than BINARY_CACHE_FILES or _BYTES. */
void binary_cache_put(const collet_host *host, const char *key, const void *binary, uint64_t bytes);

/* Forgets one that the driver did not take. */
void binary_cache_drop(const collet_host *host, const char *key);

#define BINARY_CACHE_FILES 2048
#define BINARY_CACHE_BYTES ((uint64_t)512 << 20)

#endif
