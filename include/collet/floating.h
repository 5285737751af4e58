/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collet/floating.h - the floating-point state in which Collet computes, independent of its caller's state: round to
 * nearest, ties to even; subnormal numbers are kept, in operands and in results; no exception raises a signal; x87
 * computes with 64 bits of precision.
 *
 * libcore and the engines set it on the calling thread at the beginning of a call and restore the
 * caller's state at the end. Backends use this header for threads of their own. Programs do not
 * need it.
 *
 * Each thread has its own state; a new thread has the state of the thread that created it. Sticky exception flags
 * (fetestexcept) are not part of the state: any call may raise or clear some. If the caller has enabled signals for x87
 * exceptions, the x87 flags are cleared.
 *
 * Reading the state costs about 2 ns; it is written only if it differs.
 */
#ifndef COLLET_FLOATING_H
#define COLLET_FLOATING_H

#include <stdint.h>

#if !defined(__x86_64__) && !defined(__aarch64__)
#include <fenv.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct collet_floating {
    uint64_t control; /* MXCSR or FPCR of the vector unit, without sticky flags; on other processors
                         fegetround() */
    uint64_t legacy;  /* x87 control word, 0 on other processors */
} collet_floating;

#if defined(__x86_64__)
#define COLLET_FLOATING_CONTROL 0x1f80u
#define COLLET_FLOATING_LEGACY 0x037fu
#define COLLET_FLOATING_FLAGS 0x3fu /* sticky flags of MXCSR; masks of the x87 control word */
#elif defined(__aarch64__)
#define COLLET_FLOATING_CONTROL 0u
#define COLLET_FLOATING_LEGACY 0u
#else
#define COLLET_FLOATING_CONTROL FE_TONEAREST
#define COLLET_FLOATING_LEGACY 0u
#endif

/* The state of the calling thread. */
static inline collet_floating collet_floating_now(void)
{
    collet_floating state = {0, 0};
#if defined(__x86_64__)
    uint32_t control;
    uint16_t legacy;
    __asm__ volatile("stmxcsr %0" : "=m"(control));
    __asm__ volatile("fnstcw %0" : "=m"(legacy));
    state.control = control & ~COLLET_FLOATING_FLAGS;
    state.legacy = legacy;
#elif defined(__aarch64__)
    __asm__ volatile("mrs %0, fpcr" : "=r"(state.control));
#else
    state.control = (uint64_t)fegetround();
#endif
    return state;
}

static inline void collet_floating_set(collet_floating state)
{
#if defined(__x86_64__)
    uint32_t control;
    uint16_t before, legacy = state.legacy & 0xffffu;
    __asm__ volatile("fnstcw %0" : "=m"(before));
    __asm__ volatile("stmxcsr %0" : "=m"(control));
    control = (state.control & 0xffffffffu) | (control & COLLET_FLOATING_FLAGS);
    /* A raised x87 flag that is unmasked raises SIGFPE at the next instruction, such as fldcw. */
    if ((before & legacy & COLLET_FLOATING_FLAGS) != COLLET_FLOATING_FLAGS)
        __asm__ volatile("fnclex" : : : "memory");
    __asm__ volatile("fldcw %0" : : "m"(legacy) : "memory");
    __asm__ volatile("ldmxcsr %0" : : "m"(control) : "memory");
#elif defined(__aarch64__)
    __asm__ volatile("msr fpcr, %0" : : "r"(state.control) : "memory");
#else
    fesetround((int)state.control);
#endif
}

static inline int collet_floating_equal(collet_floating a, collet_floating b)
{
    return a.control == b.control && a.legacy == b.legacy;
}

/* Collet's state, for any thread. */
static inline collet_floating collet_floating_default(void)
{
    collet_floating state = {COLLET_FLOATING_CONTROL, COLLET_FLOATING_LEGACY};
    return state;
}

/* Sets Collet's state; returns the state before, for collet_floating_end. */
static inline collet_floating collet_floating_begin(void)
{
    collet_floating was = collet_floating_now();
    if (!collet_floating_equal(was, collet_floating_default()))
        collet_floating_set(collet_floating_default());
    return was;
}

static inline void collet_floating_end(const collet_floating *was)
{
    if (!collet_floating_equal(*was, collet_floating_default()))
        collet_floating_set(*was);
}

/* Place this macro first in a function: the function then computes in Collet's state, and each
 * return restores the caller's state. */
#define COLLET_FLOATING_SCOPE                                                                      \
    __attribute__((cleanup(collet_floating_end), unused)) const collet_floating                    \
        collet_floating_was = collet_floating_begin()

#ifdef __cplusplus
}
#endif
#endif
