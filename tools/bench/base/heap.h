/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts heap allocations: this program's malloc, calloc, realloc, aligned_alloc, memalign and
 * posix_memalign interpose the C library's for the whole process, libcore and plugins included, and
 * forward to it. Under a sanitizer its hooks count; the hooks of the thread sanitizer
 * miss aligned_alloc.
 */
#ifndef TOOLS_BENCH_BASE_HEAP_H
#define TOOLS_BENCH_BASE_HEAP_H

#include <stdint.h>

/* Allocations made by all threads since the program began. */
uint64_t bench_heap_allocations(void);

/* Resident bytes; 0 if unknown. */
uint64_t bench_heap_resident(void);

#endif
