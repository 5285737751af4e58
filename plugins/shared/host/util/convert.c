/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/array/array.c */
#include "convert.h"

#include <string.h>

#include "half.h"

/* The number of elements that are converted through double at a time. */
#define CHUNK 256

/* Converts a 64-bit integer to double by rounding to odd (the last bit is sticky). Rounding the double again,
 * to 24 bits or fewer, then gives the same as rounding the integer once. */
static double sticky_u64(uint64_t x)
{
    if (x < 1ull << 53)
        return (double)x;
    uint64_t kept = x >> 11 << 11;
    return (double)(kept == x ? x : kept | 1ull << 11);
}

static double sticky_i64(int64_t x)
{
    return x < 0 ? -sticky_u64(0 - (uint64_t)x) : sticky_u64((uint64_t)x);
}

#define NAME(x) f16_##x
#define TYPE uint16_t
#define TO_DOUBLE(x) cpu_f16_to(x)
#define FROM_DOUBLE(x) cpu_f16_from(x)
#define FROM_I64(x) cpu_f16_from(sticky_i64(x))
#define FROM_U64(x) cpu_f16_from(sticky_u64(x))
#include "cast.inc"

#define NAME(x) bf16_##x
#define TYPE uint16_t
#define TO_DOUBLE(x) cpu_bf16_to(x)
#define FROM_DOUBLE(x) cpu_bf16_from(x)
#define FROM_I64(x) cpu_bf16_from(sticky_i64(x))
#define FROM_U64(x) cpu_bf16_from(sticky_u64(x))
#include "cast.inc"

#define NAME(x) f32_##x
#define TYPE float
#define TO_DOUBLE(x) ((double)(x))
#define FROM_DOUBLE(x) ((float)(x))
#define FROM_I64(x) ((float)(x))
#define FROM_U64(x) ((float)(x))
#include "cast.inc"

#define NAME(x) f64_##x
#define TYPE double
#define TO_DOUBLE(x) (x)
#define FROM_DOUBLE(x) (x)
#define FROM_I64(x) ((double)(x))
#define FROM_U64(x) ((double)(x))
#include "cast.inc"

#define NAME(x) i8_##x
#define TYPE int8_t
#define LEAST INT8_MIN
#define MOST INT8_MAX
#define BEYOND 0x1p7
#include "cast_integer.inc"

#define NAME(x) u8_##x
#define TYPE uint8_t
#define LEAST 0
#define MOST UINT8_MAX
#define BEYOND 0x1p8
#include "cast_integer.inc"

#define NAME(x) i16_##x
#define TYPE int16_t
#define LEAST INT16_MIN
#define MOST INT16_MAX
#define BEYOND 0x1p15
#include "cast_integer.inc"

#define NAME(x) u16_##x
#define TYPE uint16_t
#define LEAST 0
#define MOST UINT16_MAX
#define BEYOND 0x1p16
#include "cast_integer.inc"

#define NAME(x) i32_##x
#define TYPE int32_t
#define LEAST INT32_MIN
#define MOST INT32_MAX
#define BEYOND 0x1p31
#include "cast_integer.inc"

#define NAME(x) u32_##x
#define TYPE uint32_t
#define LEAST 0
#define MOST UINT32_MAX
#define BEYOND 0x1p32
#include "cast_integer.inc"

#define NAME(x) i64_##x
#define TYPE int64_t
#define LEAST INT64_MIN
#define MOST INT64_MAX
#define BEYOND 0x1p63
#include "cast_integer.inc"

#define NAME(x) u64_##x
#define TYPE uint64_t
#define LEAST 0
#define MOST UINT64_MAX
#define BEYOND 0x1p64
#include "cast_integer.inc"

#define NAME(x) b8_##x
#define TYPE uint8_t
#define TO_DOUBLE(x) ((x) ? 1.0 : 0.0)
#define FROM_DOUBLE(x) ((x) != 0.0)
#define FROM_I64(x) ((x) != 0)
#define FROM_U64(x) ((x) != 0)
#include "cast.inc"

typedef struct conversion {
    uint64_t size;
    collet_dtype part; /* the dtype of the parts of a complex dtype; 0 for other dtypes */
    void (*load)(double *out, const char *in, int64_t step, int64_t count);
    void (*store)(char *out, int64_t step, const double *in, int64_t count);
    void (*store_i64)(char *out, int64_t out_step, const char *in, int64_t in_step, int64_t count);
    void (*store_u64)(char *out, int64_t out_step, const char *in, int64_t in_step, int64_t count);
} conversion;

#define REAL(ID, prefix, size_of)                                                                  \
    [COLLET_##ID] = {size_of(prefix), COLLET_DTYPE_NONE,  prefix##_load,                           \
                     prefix##_store,  prefix##_store_i64, prefix##_store_u64},
#define SIZE_OF(prefix) sizeof(((collet_scalar *)0)->value.prefix)

static const conversion conversions[COLLET_DTYPE_COUNT] = {
    COLLET_EACH_REAL(REAL, SIZE_OF)[COLLET_C64] = {8, COLLET_F32, NULL, NULL, NULL, NULL},
    [COLLET_C128] = {16, COLLET_F64, NULL, NULL, NULL, NULL},
};

void cpu_move(char *out, int64_t out_step, const char *in, int64_t in_step, uint64_t size,
              int64_t count)
{
    if (out_step == (int64_t)size && in_step == (int64_t)size && count > 0) {
        memmove(out, in, (size_t)count * size);
        return;
    }
#define MOVE_EACH(bytes)                                                                           \
    for (int64_t i = 0; i < count; i++)                                                            \
    memmove(out + i * out_step, in + i * in_step, bytes)
    switch (size) {
    case 1:
        MOVE_EACH(1);
        break;
    case 2:
        MOVE_EACH(2);
        break;
    case 4:
        MOVE_EACH(4);
        break;
    case 8:
        MOVE_EACH(8);
        break;
    default:
        MOVE_EACH(16);
        break;
    }
}

static void convert_real(char *out, collet_dtype to, int64_t out_step, const char *in,
                         collet_dtype from, int64_t in_step, int64_t count)
{
    const conversion *target = &conversions[to];
    if (from == COLLET_I64) {
        target->store_i64(out, out_step, in, in_step, count);
        return;
    }
    if (from == COLLET_U64) {
        target->store_u64(out, out_step, in, in_step, count);
        return;
    }
    double chunk[CHUNK];
    for (int64_t first = 0; first < count; first += CHUNK) {
        int64_t n = count - first < CHUNK ? count - first : CHUNK;
        conversions[from].load(chunk, in + first * in_step, in_step, n);
        target->store(out + first * out_step, out_step, chunk, n);
    }
}

/* Whether a part of a complex number differs from 0. */
static void truth_of_complex(char *out, int64_t out_step, const char *in, collet_dtype part,
                             int64_t in_step, int64_t count)
{
    for (int64_t i = 0; i < count; i++, out += out_step, in += in_step) {
        char parts[2];
        convert_real(parts, COLLET_BOOL, 1, in, part, (int64_t)conversions[part].size, 2);
        *out = parts[0] | parts[1];
    }
}

void cpu_convert(char *out, collet_dtype to, int64_t out_step, const char *in, collet_dtype from,
                 int64_t in_step, int64_t count)
{
    if (to == from) {
        cpu_move(out, out_step, in, in_step, conversions[to].size, count);
        return;
    }
    collet_dtype to_part = conversions[to].part, from_part = conversions[from].part;
    if (from_part != COLLET_DTYPE_NONE && to == COLLET_BOOL) {
        truth_of_complex(out, out_step, in, from_part, in_step, count);
        return;
    }
    if (to_part == COLLET_DTYPE_NONE) {
        convert_real(out, to, out_step, in, from, in_step, count);
        return;
    }
    static const double zero = 0.0;
    char *out_im = out + conversions[to_part].size;
    if (from_part == COLLET_DTYPE_NONE) {
        convert_real(out, to_part, out_step, in, from, in_step, count);
        convert_real(out_im, to_part, out_step, (const char *)&zero, COLLET_F64, 0, count);
        return;
    }
    const char *in_im = in + conversions[from_part].size;
    convert_real(out, to_part, out_step, in, from_part, in_step, count);
    convert_real(out_im, to_part, out_step, in_im, from_part, in_step, count);
}
