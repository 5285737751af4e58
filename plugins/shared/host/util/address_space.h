/* SPDX-License-Identifier: Apache-2.0 */
/* address_space.h - checks whether a library will be able to map memory; some libraries retry forever if they cannot.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>

/* Whether the process may map `bytes` (> 0) more now (ulimit -v and -d). Any thread may call it. */
static inline bool address_space_has(uint64_t bytes)
{
    void *memory = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory != MAP_FAILED && munmap(memory, (size_t)bytes) == 0;
}

/* Whether the process has a limit on address space or data (ulimit -v, -d). */
static inline bool address_space_is_limited(void)
{
    struct rlimit all, data;
    return (!getrlimit(RLIMIT_AS, &all) && all.rlim_cur != RLIM_INFINITY) ||
           (!getrlimit(RLIMIT_DATA, &data) && data.rlim_cur != RLIM_INFINITY);
}
