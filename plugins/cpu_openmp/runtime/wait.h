/* SPDX-License-Identifier: Apache-2.0 */
/* wait.h - how threads of the team wait: futexes, spinning; how soon woken threads run. */
#pragma once

#include <linux/futex.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "shared/host/util/clock.h"

/* If two readings of the clock in spin() are this many nanoseconds apart, another thread had the processor. */
#define WAIT_LOST 100000

/* Nanoseconds of the time slice that wait_briefly requests. */
#define WAIT_SLICE 100000

/* If `word` is `value`, sleeps until a futex_wake whose bits have a bit in common with `bits`. */
static inline void futex_wait(_Atomic uint32_t *word, uint32_t value, uint32_t bits)
{
    syscall(SYS_futex, word, FUTEX_WAIT_BITSET_PRIVATE, value, NULL, NULL, bits);
}

/* The same with a limit in nanoseconds, below a second. */
static inline void futex_wait_for(_Atomic uint32_t *word, uint32_t value, int64_t limit)
{
    struct timespec t = {0, (long)limit};
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, &t, NULL, 0);
}

static inline void futex_wake(_Atomic uint32_t *word, int32_t count, uint32_t bits)
{
    syscall(SYS_futex, word, FUTEX_WAKE_BITSET_PRIVATE, count, NULL, NULL, bits);
}

static inline void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb" ::: "memory");
#endif
}

/* Spins until `word` is no longer `value`, at most `limit` nanoseconds. Returns the time that it spun; sets *lost if
 * another thread had the processor in between. */
static inline int64_t spin(_Atomic uint32_t *word, uint32_t value, int64_t limit, bool *lost)
{
    int64_t begin = clock_now(), last = begin;
    for (;;) {
        for (int i = 0; i < 16; i++) {
            if (atomic_load_explicit(word, memory_order_acquire) != value)
                return last - begin;
            relax();
        }
        int64_t here = clock_now();
        *lost |= here - last > WAIT_LOST;
        last = here;
        if (here - begin > limit)
            return here - begin;
    }
}

/* Requests short time slices from Linux for the calling thread. A woken thread preempts a
 * running thread that has a longer slice. Otherwise it waits until the slice of the running
 * thread ends, 3 ms by default. The thread that woke it is often the running thread, because
 * idle processors of a virtual machine do not look idle to Linux. The request has no effect
 * before Linux 6.12, and no effect on threads with a scheduling policy other than SCHED_OTHER. */
static inline void wait_briefly(void)
{
    struct { /* sched_setattr(2); glibc declares it from 2.41 on */
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t runtime, deadline, period;
    } attributes = {.size = 0};
    if (syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) == 0 &&
        attributes.policy == SCHED_OTHER) {
        attributes.size = sizeof attributes;
        attributes.runtime = WAIT_SLICE;
        (void)syscall(SYS_sched_setattr, 0, &attributes, 0);
    }
}
