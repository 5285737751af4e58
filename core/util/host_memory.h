/* SPDX-License-Identifier: Apache-2.0 */
/* host_memory.h - the memory of arrays on the host. The process keeps some large memory that was freed, for later
 * arrays: new pages, which the system clears, cost more than most ops. Any thread, and after fork(). */
#pragma once

#include <stdint.h>

#define HOST_MEMORY_KEPT ((uint64_t)64 << 20) /* maximum number of kept bytes */
#define HOST_MEMORY_SHARE 16                  /* and at most 1/16 of the memory that the process may use */

/* Allocates memory that is aligned to cache lines, large memory to huge pages. NULL: there is none. */
void *host_memory_create(uint64_t bytes);
void host_memory_free(void *memory);

/* The bytes of freed memory that are kept. host_memory_trim gives them back to the system. */
uint64_t host_memory_kept(void);
void host_memory_trim(void);
