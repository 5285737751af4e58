/* SPDX-License-Identifier: Apache-2.0 */
/* Enables flush-to-zero when loaded, as linking with -ffast-math does. */
#include "zoo.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#else
#include <fenv.h>
#endif

__attribute__((constructor)) static void flush_to_zero(void)
{
#if defined(__x86_64__)
    _mm_setcsr(_mm_getcsr() | 0x8040u);
#elif defined(__aarch64__)
    __asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)1 << 24));
#else
    fesetround(FE_UPWARD);
#endif
}

const collet_plugin *collet_plugin_entry(const collet_host *host)
{
    (void)host;
    zoo_fill(&zoo_table);
    return &zoo_table;
}
