/* SPDX-License-Identifier: Apache-2.0 */
/*
 * convert.h - element conversion as `copy` defines it, for every backend that works on host memory.
 *
 * Conversions to an integer round toward zero and saturate; NaN gives 0. Conversions to f64, f32, f16 and bf16
 * round once, to nearest even, from any source. The functions are pure: any thread may call them, and there are no
 * errors.
 */
#pragma once

#include <collet/types.h>

#define CPU_DTYPE_SIZE(NAME, id, size, ...) [id] = size,

/* Bytes per element; 0 for an unknown dtype. */
static inline uint64_t cpu_dtype_size(collet_dtype dtype)
{
    static const uint8_t sizes[COLLET_DTYPE_COUNT] = {COLLET_DTYPE_LIST(CPU_DTYPE_SIZE)};
    return dtype > 0 && dtype < COLLET_DTYPE_COUNT ? sizes[dtype] : 0;
}

#undef CPU_DTYPE_SIZE

static inline int cpu_dtype_is_complex(collet_dtype dtype)
{
    return dtype == COLLET_C64 || dtype == COLLET_C128;
}

/*
 * Converts `count` elements; steps are in bytes, of either sign. Both dtypes are real, or both are complex, or real
 * elements become complex (with imaginary part 0). `out` may be the same array as `in` if dtype and step are the same.
 */
void cpu_convert(char *out, collet_dtype to, int64_t out_step, const char *in, collet_dtype from,
                 int64_t in_step, int64_t count);

/* Moves `count` elements of `size` (1, 2, 4, 8 or 16) bytes, aligned to min(size, 8). */
void cpu_move(char *out, int64_t out_step, const char *in, int64_t in_step, uint64_t size,
              int64_t count);
