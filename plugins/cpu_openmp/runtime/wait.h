/* SPDX-License-Identifier: Apache-2.0 */
/* wait.h - how threads of the team wait: the clock, futexes, spinning. */
#ifndef PLUGINS_CPU_OPENMP_RUNTIME_WAIT_H
#define PLUGINS_CPU_OPENMP_RUNTIME_WAIT_H

#include <linux/futex.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "shared/host/util/clock.h"

/* Nanoseconds between two looks at the clock after which something else ran meanwhile. */
#define WAIT_LOST 100000

/* Sleeps while `word` is `value`, until a wake that has a bit of `bits`. */
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

/* Spins until `word` is no longer `value`, at most `limit` nanoseconds. Returns how long; *lost is
 * set when another thread had the processor meanwhile. */
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

#endif
