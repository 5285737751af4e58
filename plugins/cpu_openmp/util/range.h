/* SPDX-License-Identifier: Apache-2.0 */
/*
 * range.h - whether numbers of the calling thread have left the range of their type, by the processor's sticky flags of
 * overflow and underflow. Kernels are called through pointers, so that the compiler moves none beyond these functions.
 */
#ifndef PLUGINS_CPU_OPENMP_UTIL_RANGE_H
#define PLUGINS_CPU_OPENMP_UTIL_RANGE_H

#include <stdint.h>

#if defined(__x86_64__)

#define RANGE_FLAGS 0x18u /* of MXCSR */

static inline uint64_t range_read(void)
{
    uint32_t state;
    __asm__ volatile("stmxcsr %0" : "=m"(state) : : "memory");
    return state;
}

static inline void range_write(uint64_t state)
{
    uint32_t word = (uint32_t)state;
    __asm__ volatile("ldmxcsr %0" : : "m"(word) : "memory");
}

#elif defined(__aarch64__)

#define RANGE_FLAGS 0xcu /* of FPSR */

static inline uint64_t range_read(void)
{
    uint64_t state;
    __asm__ volatile("mrs %0, fpsr" : "=r"(state) : : "memory");
    return state;
}

static inline void range_write(uint64_t state)
{
    __asm__ volatile("msr fpsr, %0" : : "r"(state) : "memory");
}

#else

#include <fenv.h>

#define RANGE_FLAGS ((uint64_t)(FE_OVERFLOW | FE_UNDERFLOW))

static inline uint64_t range_read(void)
{
    return (uint64_t)fetestexcept(FE_OVERFLOW | FE_UNDERFLOW);
}

static inline void range_write(uint64_t state)
{
    (void)feclearexcept((int)(~state & RANGE_FLAGS));
}

#endif

static inline int range_was_left(void)
{
    return (range_read() & RANGE_FLAGS) != 0;
}

/* Clears the flags, which takes longer than to read them. */
static inline void range_begin(void)
{
    uint64_t state = range_read();
    if (state & RANGE_FLAGS)
        range_write(state & ~(uint64_t)RANGE_FLAGS);
}

#endif
