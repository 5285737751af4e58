/* SPDX-License-Identifier: Apache-2.0 */
/* Counts heap allocations. This program defines malloc, calloc, realloc, aligned_alloc, memalign and
 * posix_memalign. Its definitions replace the C library's functions in the whole process, including libcore and
 * plugins; each definition counts and calls the C library's function. In a build with a sanitizer, the sanitizer's
 * hooks count instead; the hooks of the thread sanitizer miss aligned_alloc.
 */
#pragma once

#include <stdint.h>

/* Allocations made by all threads since the program began. */
uint64_t bench_heap_allocations(void);

/* Returns the number of resident bytes; 0 if unknown. */
uint64_t bench_heap_resident(void);
