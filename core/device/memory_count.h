/* SPDX-License-Identifier: Apache-2.0 */
/* Counts bytes: the allocated bytes of a memory space with their peak, on any thread, and the bytes
 * that a context transfers. */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

typedef struct memory_count {
    _Atomic uint64_t current, peak;
} memory_count;

static inline void memory_count_add(memory_count *c, uint64_t bytes)
{
    uint64_t now = atomic_fetch_add(&c->current, bytes) + bytes;
    uint64_t peak = atomic_load(&c->peak);
    while (now > peak && !atomic_compare_exchange_weak(&c->peak, &peak, now))
        ;
}

static inline void memory_count_subtract(memory_count *c, uint64_t bytes)
{
    atomic_fetch_sub(&c->current, bytes);
}

static inline void memory_count_reset_peak(memory_count *c)
{
    atomic_store(&c->peak, atomic_load(&c->current));
}

/* Bytes transferred between memory spaces. */
typedef struct transfer_counters {
    uint64_t bytes_to_device, bytes_to_host, bytes_direct;
} transfer_counters;
