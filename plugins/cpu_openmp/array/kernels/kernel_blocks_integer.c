/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/array/elementwise.c */
#include "kernel_blocks.h"

#include "cpu_openmp/util/kernel_level.h"
#include "cpu_openmp/util/kernel_elementary.h"
#include "shared/formula/formulas.h"
#include "shared/formula/kinds.h"

/* Multiplies by halves, because there is no vector instruction for the whole product. */
INLINE u64 high_u64(u64 a, u64 b)
{
    u64 a_low = (uint32_t)a, a_high = a >> 32, b_low = (uint32_t)b, b_high = b >> 32;
    u64 middle = a_high * b_low + (a_low * b_low >> 32);
    return a_high * b_high + (middle >> 32) + ((a_low * b_high + (uint32_t)middle) >> 32);
}

#define BLOCK(x) block_##x##_b8
#define F(x) x##_b8
#define OF OF_B
#define TYPE b8
#include "kernel_blocks.inc"

#define BLOCK(x) block_##x##_i8
#define F(x) x##_i8
#define OF OF_I
#define TYPE i8
#define REAL i8
#define UNSIGNED u8
#define WIDE u16
#define FACTOR u16
#define SIGN(a) ((a) >> 7)
#define SHORT i16
#include "kernel_blocks.inc"

#define BLOCK(x) block_##x##_u8
#define F(x) x##_u8
#define OF OF_I
#define TYPE u8
#define REAL u8
#define UNSIGNED u8
#define WIDE u16
#define FACTOR u16
#define SIGN(a) 0
#define SHORT u16
#include "kernel_blocks.inc"

#define BLOCK(x) block_##x##_i16
#define F(x) x##_i16
#define OF OF_I
#define TYPE i16
#define REAL i16
#include "kernel_blocks.inc"

#define BLOCK(x) block_##x##_u16
#define F(x) x##_u16
#define OF OF_I
#define TYPE u16
#define REAL u16
#include "kernel_blocks.inc"

#define BLOCK(x) block_##x##_i32
#define F(x) x##_i32
#define OF OF_I
#define TYPE i32
#define REAL i32
#define UNSIGNED u32
#define WIDE u64
#define FACTOR u32
#define SIGN(a) ((a) >> 31)
#define HIGH(a, b) ((u32)((u64)(a) * (b) >> 32))
#include "kernel_blocks.inc"

#define BLOCK(x) block_##x##_u32
#define F(x) x##_u32
#define OF OF_I
#define TYPE u32
#define REAL u32
#define UNSIGNED u32
#define WIDE u64
#define FACTOR u32
#define SIGN(a) 0
#define HIGH(a, b) ((u32)((u64)(a) * (b) >> 32))
#include "kernel_blocks.inc"

#define BLOCK(x) block_##x##_i64
#define F(x) x##_i64
#define OF OF_I
#define TYPE i64
#define REAL i64
#define UNSIGNED u64
#define WIDE unsigned __int128
#define FACTOR u64
#define SIGN(a) ((a) >> 63)
#define HIGH(a, b) high_u64(a, b)
#include "kernel_blocks.inc"

#define BLOCK(x) block_##x##_u64
#define F(x) x##_u64
#define OF OF_I
#define TYPE u64
#define REAL u64
#define UNSIGNED u64
#define WIDE unsigned __int128
#define FACTOR u64
#define SIGN(a) 0
#define HIGH(a, b) high_u64(a, b)
#include "kernel_blocks.inc"

extern const block_kernels LEVEL_NAME(blocks_integer);
const block_kernels LEVEL_NAME(blocks_integer) = {.find = {
                                                      [COLLET_BOOL] = block_find_b8,
                                                      [COLLET_I8] = block_find_i8,
                                                      [COLLET_U8] = block_find_u8,
                                                      [COLLET_I16] = block_find_i16,
                                                      [COLLET_U16] = block_find_u16,
                                                      [COLLET_I32] = block_find_i32,
                                                      [COLLET_U32] = block_find_u32,
                                                      [COLLET_I64] = block_find_i64,
                                                      [COLLET_U64] = block_find_u64,
                                                  }};
