/* SPDX-License-Identifier: Apache-2.0 */
#include "floating.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#define MXCSR_FLAGS 0x3fu /* sticky flags, not settings */
#else
#include <fenv.h>
#endif

floating_state floating_save(void)
{
    floating_state state = {0, 0};
#if defined(__x86_64__)
    uint16_t word;
    __asm__ volatile("fnstcw %0" : "=m"(word));
    state.control = _mm_getcsr() & ~MXCSR_FLAGS;
    state.legacy = word;
#elif defined(__aarch64__)
    __asm__ volatile("mrs %0, fpcr" : "=r"(state.control));
#else
    state.control = (uint64_t)fegetround();
#endif
    return state;
}

void floating_restore(floating_state state)
{
#if defined(__x86_64__)
    uint16_t word = (uint16_t)state.legacy;
    __asm__ volatile("fldcw %0" : : "m"(word));
    _mm_setcsr((uint32_t)state.control | (_mm_getcsr() & MXCSR_FLAGS));
#elif defined(__aarch64__)
    __asm__ volatile("msr fpcr, %0" : : "r"(state.control));
#else
    fesetround((int)state.control);
#endif
}

int floating_equal(floating_state a, floating_state b)
{
    return a.control == b.control && a.legacy == b.legacy;
}
