/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_level.h - the macros that depend on the instruction set that a kernel_*.c is compiled for.
 *
 * Each kernel_*.c is compiled once per level with COLLET_LEVEL (v2, v3, v4, baseline) and the flags
 * of that level, and defines tables whose names end in the level: LEVEL_NAME(frame) is frame_v3.
 * Everything else is static, so that the linker never merges code of a higher level into a lower level. Only code
 * of the levels that levels_select allows may run.
 */
#pragma once

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

/* A matrix product c = a b keeps a tile of c of TILE_ROWS rows and 2 vectors per row in registers; three more
 * registers hold two vectors of b and one vector of a. */
#if VECTOR_REGISTERS == 32 && VECTOR_BYTES == 64
#define TILE_ROWS 12
#elif VECTOR_REGISTERS == 32
#define TILE_ROWS 8
#else
#define TILE_ROWS 6
#endif

#define LANES_F32 (VECTOR_BYTES / 4)
#define LANES_F64 (VECTOR_BYTES / 8)

/* Marks a loop whose output may be the same array as an input: element i of the output depends
 * only on elements i of the inputs. The compiler cannot know that; it would test for overlap at
 * run time and slow down in-place calls. */
#if defined(__clang__)
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif

/* a * b + c, rounded once if the level has FMA, else twice. */
#if defined(__FMA__) || defined(__aarch64__)
#define HAVE_FMA 1
#define MULTIPLY_ADD(a, b, c)                                                                      \
    _Generic((a), float : __builtin_fmaf, double : __builtin_fma)((a), (b), (c))
#else
#define HAVE_FMA 0
#define MULTIPLY_ADD(a, b, c) ((a) * (b) + (c))
#endif
