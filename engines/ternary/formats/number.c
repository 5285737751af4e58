/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_ternary_files.c, tests/engines/test_ternary_safetensors.c */
#include "number.h"

#include <math.h>
#include <string.h>

static double half_number(uint16_t bits)
{
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double value = exponent == 31  ? (fraction ? NAN : INFINITY)
                   : exponent == 0 ? ldexp(fraction, -24)
                                   : ldexp(fraction + 1024, exponent - 25);

    return bits & 0x8000 ? -value : value;
}

double ternary_number(collet_dtype dtype, const void *elements, int64_t index)
{
    size_t size = collet_dtype_size(dtype);
    union {
        uint16_t half;
        float single;
        double number;
        int8_t tiny;
        uint8_t byte;
        int32_t small;
        int64_t whole;
        uint32_t word;
    } u;

    memcpy(&u, (const uint8_t *)elements + (size_t)index * size, size);
    switch (dtype) {
    case COLLET_F16:
        return half_number(u.half);
    case COLLET_BF16:
        u.word = (uint32_t)u.half << 16;
        return (double)u.single;
    case COLLET_F32:
        return (double)u.single;
    case COLLET_F64:
        return u.number;
    case COLLET_I8:
        return (double)u.tiny;
    case COLLET_U8:
        return (double)u.byte;
    case COLLET_I32:
        return (double)u.small;
    default:
        return (double)u.whole;
    }
}
