/* SPDX-License-Identifier: Apache-2.0 */
/* range.h - whether numbers of the calling thread have left the range of their type, by the processor's sticky flags of
 * overflow and underflow. Kernels are called through pointers, so the compiler cannot move a kernel's arithmetic across
 * these functions. */
#pragma once

#include <fenv.h>

static inline int range_was_left(void)
{
    return fetestexcept(FE_OVERFLOW | FE_UNDERFLOW) != 0;
}

/* Clears the flags. Reads the flags first, because clearing takes longer than reading. */
static inline void range_begin(void)
{
    if (range_was_left())
        (void)feclearexcept(FE_OVERFLOW | FE_UNDERFLOW);
}
