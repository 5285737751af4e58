/* SPDX-License-Identifier: Apache-2.0 */
/*
 * level.h - what changes when the files of this folder are compiled for another instruction set.
 *
 * Each file is compiled once a level with COLLET_LEVEL (v2, v3, v4, baseline) and the flags of that
 * level, and defines tables whose names end in the level's: LEVEL_NAME(frame) is frame_v3.
 * Nothing else is visible, and nothing here may be called before isa.h has found the level usable.
 * Code of a higher level must never be merged into a lower one: everything else is static.
 */
#ifndef COLLET_OPENMP_LEVEL_H
#define COLLET_OPENMP_LEVEL_H

#include <stdint.h>

#define LEVEL_JOIN_(a, b) a##_##b
#define LEVEL_JOIN(a, b) LEVEL_JOIN_(a, b)
#define LEVEL_NAME(name) LEVEL_JOIN(name, COLLET_LEVEL)

#define INLINE static inline __attribute__((always_inline))

/* Bytes of a vector register, and how many registers there are. */
#if defined(__AVX512F__)
#define VECTOR_BYTES 64
#define VECTOR_REGISTERS 32
#elif defined(__AVX2__)
#define VECTOR_BYTES 32
#define VECTOR_REGISTERS 16
#elif defined(__aarch64__)
#define VECTOR_BYTES 16
#define VECTOR_REGISTERS 32
#else
#define VECTOR_BYTES 16
#define VECTOR_REGISTERS 16
#endif

#define LANES_F32 (VECTOR_BYTES / 4)
#define LANES_F64 (VECTOR_BYTES / 8)

/*
 * Before a loop whose outputs may be exactly one of its inputs: element i depends on element i
 * alone, which the compiler cannot see and would test for at run time, to the loss of in-place
 * calls.
 */
#if defined(__clang__)
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif

/* a * b + c rounded once where the machine can; elsewhere twice. */
#if defined(__FMA__) || defined(__aarch64__)
#define HAVE_FMA 1
#define MULTIPLY_ADD(a, b, c)                                                                      \
    _Generic((a), float : __builtin_fmaf, double : __builtin_fma)((a), (b), (c))
#else
#define HAVE_FMA 0
#define MULTIPLY_ADD(a, b, c) ((a) * (b) + (c))
#endif

#endif
