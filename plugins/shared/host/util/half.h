/* SPDX-License-Identifier: Apache-2.0 */
/*
 * half.h - conversion of f16 (1-5-10) and bf16 (1-8-7) to and from double.
 *
 * Conversion to double is exact. Conversion from double rounds once, to nearest even, even if the result is
 * subnormal; numbers that are too large become infinity; NaN stays NaN (quiet) and keeps its sign. The results do
 * not depend on the rounding mode.
 */
#pragma once

#include <stdint.h>
#include <string.h>

/* Rounds x to a 16-bit float with `digits` stored mantissa bits and an exponent bias of `bias`. */
static inline uint16_t cpu_round16(double x, int digits, int bias)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    uint32_t sign = (uint32_t)(bits >> 63) << 15;
    uint32_t infinity = (0x7fffu >> digits) << digits;
    uint64_t fraction = bits & 0xfffffffffffffu;
    int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
    if (exponent == 1024 && fraction != 0)
        return (uint16_t)(sign | infinity | 1u << (digits - 1));
    if (exponent > bias)
        return (uint16_t)(sign | infinity);

    int shift = 52 - digits;
    uint32_t field = (uint32_t)(exponent + bias - 1) << digits;
    if (exponent < 1 - bias) {
        shift += 1 - bias - exponent;
        field = 0;
    }
    if (shift > 53)
        return (uint16_t)sign;
    /* The mantissa's leading one adds 1 to the exponent field, and rounding up may carry into it. */
    uint64_t mantissa = fraction | 1ull << 52;
    uint64_t even = mantissa >> shift & 1;
    mantissa = (mantissa + ((1ull << (shift - 1)) - 1) + even) >> shift;
    return (uint16_t)(sign | (field + (uint32_t)mantissa));
}

static inline uint16_t cpu_f16_from(double x)
{
    return cpu_round16(x, 10, 15);
}

static inline uint16_t cpu_bf16_from(double x)
{
    return cpu_round16(x, 7, 127);
}

static inline double cpu_f16_to(uint16_t h)
{
    uint64_t sign = (uint64_t)(h >> 15) << 63;
    uint64_t exponent = h >> 10 & 0x1f, fraction = h & 0x3ff;
    if (exponent == 0) {
        double x = (double)fraction * 0x1p-24;
        return sign ? -x : x;
    }
    exponent = exponent == 0x1f ? 0x7ff : exponent - 15 + 1023;
    uint64_t bits = sign | exponent << 52 | fraction << 42;
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline double cpu_bf16_to(uint16_t h)
{
    uint32_t bits = (uint32_t)h << 16;
    float x;
    memcpy(&x, &bits, sizeof x);
    return (double)x;
}
