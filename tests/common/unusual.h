/* SPDX-License-Identifier: Apache-2.0 */
/* unusual.h - a floating-point state that Collet must replace by its own before it computes. */
#ifndef TESTS_COMMON_UNUSUAL_H
#define TESTS_COMMON_UNUSUAL_H

#include <collet/floating.h>

/* The calling thread rounds upward, and treats subnormal numbers as zero if the processor can. */
static inline void unusual_floating(void)
{
    collet_floating state = collet_floating_default();
#if defined(__x86_64__)
    state.control |= 0x8040 | 0x4000;
    state.legacy |= 0x0800;
#elif defined(__aarch64__)
    state.control |= 0x1400000;
#else
    state.control = FE_UPWARD;
#endif
    collet_floating_set(state);
}

static inline void usual_floating(void)
{
    collet_floating_set(collet_floating_default());
}

#endif
