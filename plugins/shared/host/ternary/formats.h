/* SPDX-License-Identifier: Apache-2.0 */
/* formats.h - conversion of rows of ternary weights between codes (-1, 0, 1) and the packed formats
 * of docs/KERNELS.md. Plain C. Arrays may have any alignment, and any thread may call the functions. */
#pragma once

#include <collet/types.h>

#define CPU_T2_WEIGHTS 256 /* per block of t2 */
#define CPU_T2_BYTES 64
#define CPU_T2_ZEROS 0x55 /* four weights 0 */
#define CPU_TQ_WEIGHTS 256

/* Packs the row of `count` codes, `step` bytes apart, to `bytes`; `scale` goes into each block of
 * tq2_0 and tq1_0. Returns the number of codes other than -1, 0, 1; they are packed as 0. */
int64_t cpu_ternary_pack(uint32_t format, uint8_t *bytes, const int8_t *codes, int64_t step,
                         int64_t count, float scale);

/* The inverse of cpu_ternary_pack. Returns the number of invalid packed weights; they become 0. */
int64_t cpu_ternary_unpack(uint32_t format, int8_t *codes, int64_t step, int64_t count,
                           const uint8_t *bytes);

/* The scale of block `block` of a row in tq2_0 or tq1_0. */
float cpu_ternary_block_scale(uint32_t format, const uint8_t *bytes, int64_t block);
