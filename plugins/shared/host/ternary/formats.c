/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/ternary/formats.c, tests/core/test_rule_ternary.c */
#include "formats.h"

#include <string.h>

#include "shared/host/util/half.h"

#define TQ2_0_BYTES 66
#define TQ1_0_BYTES 54
#define TQ1_0_DIGITS 52 /* bytes of digits before the scale */

/* Converts a code to the number w + 1. An invalid code is counted and gives 1. */
static unsigned digit_of(int8_t code, int64_t *wrong)
{
    unsigned digit = (unsigned)(code + 1);
    if (digit <= 2)
        return digit;
    ++*wrong;
    return 1;
}

/* Converts a number w + 1 to a code. The invalid number 3 is counted and gives 0. */
static int8_t code_of(unsigned digit, int64_t *wrong)
{
    if (digit <= 2)
        return (int8_t)((int)digit - 1);
    ++*wrong;
    return 0;
}

/* The position of a weight in blocks with two bits per weight. */
typedef struct place {
    int64_t byte;
    unsigned shift;
} place;

static place place_in_t2(int64_t i)
{
    int64_t in = i % CPU_T2_WEIGHTS;
    return (place){i / CPU_T2_WEIGHTS * CPU_T2_BYTES + in % 64, (unsigned)(in / 64 * 2)};
}

static place place_in_tq2_0(int64_t i)
{
    int64_t in = i % CPU_TQ_WEIGHTS;
    return (place){i / CPU_TQ_WEIGHTS * TQ2_0_BYTES + in / 128 * 32 + in % 32,
                   (unsigned)(in % 128 / 32 * 2)};
}

/* ---- Two bits per weight --------------------------------------------------------------------- */

static int64_t pack_two_bits(place (*place_of)(int64_t), uint8_t *bytes, const int8_t *codes,
                             int64_t step, int64_t count)
{
    int64_t wrong = 0;
    for (int64_t i = 0; i < count; i++) {
        place p = place_of(i);
        unsigned cleared = bytes[p.byte] & ~(3u << p.shift);
        bytes[p.byte] = (uint8_t)(cleared | digit_of(codes[i * step], &wrong) << p.shift);
    }
    return wrong;
}

static int64_t unpack_two_bits(place (*place_of)(int64_t), int8_t *codes, int64_t step,
                               int64_t count, const uint8_t *bytes)
{
    int64_t wrong = 0;
    for (int64_t i = 0; i < count; i++) {
        place p = place_of(i);
        codes[i * step] = code_of(bytes[p.byte] >> p.shift & 3u, &wrong);
    }
    return wrong;
}

/* ---- A bit for +1, a bit for -1 -------------------------------------------------------------- */

/* The position of the two bits of weight i, in both planes of a row of `count` weights. */
typedef struct bit_pair {
    int64_t plus_byte, minus_byte;
    unsigned plus_bit, minus_bit;
} bit_pair;

static bit_pair pair_of(uint32_t format, int64_t i, int64_t count)
{
    if (format == COLLET_TERNARY_PLANES) {
        unsigned bit = (unsigned)(i % 8);
        return (bit_pair){i / 8, (count + 7) / 8 + i / 8, bit, bit};
    }
    unsigned bit = (unsigned)(i % 4 * 2);
    return (bit_pair){i / 4, i / 4, bit + 1, bit};
}

static int64_t pack_pairs(uint32_t format, uint8_t *bytes, const int8_t *codes, int64_t step,
                          int64_t count)
{
    int64_t wrong = 0;
    for (int64_t i = 0; i < count; i++) {
        bit_pair p = pair_of(format, i, count);
        unsigned digit = digit_of(codes[i * step], &wrong);
        bytes[p.plus_byte] |= (uint8_t)((digit == 2) << p.plus_bit);
        bytes[p.minus_byte] |= (uint8_t)((digit == 0) << p.minus_bit);
    }
    return wrong;
}

static int64_t unpack_pairs(uint32_t format, int8_t *codes, int64_t step, int64_t count,
                            const uint8_t *bytes)
{
    int64_t wrong = 0;
    for (int64_t i = 0; i < count; i++) {
        bit_pair p = pair_of(format, i, count);
        int plus = bytes[p.plus_byte] >> p.plus_bit & 1;
        int minus = bytes[p.minus_byte] >> p.minus_bit & 1;
        wrong += plus && minus;
        codes[i * step] = (int8_t)(plus - minus);
    }
    return wrong;
}

/* ---- Base 3 ---------------------------------------------------------------------------------- */

/* Byte b of a block holds `digits` weights: weight `first` and every `apart`-th weight after it. */
typedef struct digits {
    int first, apart, digits;
} digits;

static digits digits_of(int b)
{
    if (b < 32)
        return (digits){b, 32, 5};
    if (b < 48)
        return (digits){160 + b - 32, 16, 5};
    return (digits){240 + b - 48, 4, 4};
}

static int64_t pack_base_3(uint8_t *block, const int8_t *codes, int64_t step)
{
    int64_t wrong = 0;
    for (int b = 0; b < TQ1_0_DIGITS; b++) {
        digits d = digits_of(b);
        unsigned number = 0;
        for (int n = 0; n < 5; n++)
            number = 3 * number +
                     (n < d.digits ? digit_of(codes[(d.first + n * d.apart) * step], &wrong) : 0);
        block[b] = (uint8_t)((256 * number + 242) / 243);
    }
    return wrong;
}

/* A byte / 256 is a fraction whose digits in base 3 are the weights: multiplying by 3 gives the next digit as carry. */
static void unpack_base_3(int8_t *codes, int64_t step, const uint8_t *block)
{
    for (int b = 0; b < TQ1_0_DIGITS; b++) {
        digits d = digits_of(b);
        unsigned rest = block[b];
        for (int n = 0; n < d.digits; n++) {
            rest *= 3;
            codes[(d.first + n * d.apart) * step] = (int8_t)((int)(rest >> 8) - 1);
            rest &= 255;
        }
    }
}

/* ---- Scales ---------------------------------------------------------------------------------- */

static int64_t block_bytes(uint32_t format)
{
    return format == COLLET_TERNARY_TQ2_0 ? TQ2_0_BYTES : TQ1_0_BYTES;
}

static void put_scale(uint8_t *end, float scale)
{
    uint16_t half = cpu_f16_from((double)scale);
    end[-2] = (uint8_t)half;
    end[-1] = (uint8_t)(half >> 8);
}

float cpu_ternary_block_scale(uint32_t format, const uint8_t *bytes, int64_t block)
{
    const uint8_t *end = bytes + (block + 1) * block_bytes(format);
    return (float)cpu_f16_to((uint16_t)(end[-2] | end[-1] << 8));
}

/* ---- Rows ------------------------------------------------------------------------------------ */

int64_t cpu_ternary_pack(uint32_t format, uint8_t *bytes, const int8_t *codes, int64_t step,
                         int64_t count, float scale)
{
    int64_t wrong = 0, blocks = count / CPU_TQ_WEIGHTS;
    switch (format) {
    case COLLET_TERNARY_T2:
        blocks = (count + CPU_T2_WEIGHTS - 1) / CPU_T2_WEIGHTS;
        memset(bytes, CPU_T2_ZEROS, (size_t)(blocks * CPU_T2_BYTES));
        return pack_two_bits(place_in_t2, bytes, codes, step, count);
    case COLLET_TERNARY_PLANES:
        memset(bytes, 0, (size_t)((count + 7) / 8 * 2));
        return pack_pairs(format, bytes, codes, step, count);
    case COLLET_TERNARY_ROTOR:
        memset(bytes, 0, (size_t)((count + 3) / 4));
        return pack_pairs(format, bytes, codes, step, count);
    case COLLET_TERNARY_TQ2_0:
        memset(bytes, 0, (size_t)(blocks * TQ2_0_BYTES));
        wrong = pack_two_bits(place_in_tq2_0, bytes, codes, step, count);
        break;
    default:
        for (int64_t k = 0; k < blocks; k++)
            wrong += pack_base_3(bytes + k * TQ1_0_BYTES, codes + k * CPU_TQ_WEIGHTS * step, step);
    }
    for (int64_t k = 0; k < blocks; k++)
        put_scale(bytes + (k + 1) * block_bytes(format), scale);
    return wrong;
}

int64_t cpu_ternary_unpack(uint32_t format, int8_t *codes, int64_t step, int64_t count,
                           const uint8_t *bytes)
{
    switch (format) {
    case COLLET_TERNARY_T2:
        return unpack_two_bits(place_in_t2, codes, step, count, bytes);
    case COLLET_TERNARY_TQ2_0:
        return unpack_two_bits(place_in_tq2_0, codes, step, count, bytes);
    case COLLET_TERNARY_TQ1_0:
        for (int64_t k = 0; k < count / CPU_TQ_WEIGHTS; k++)
            unpack_base_3(codes + k * CPU_TQ_WEIGHTS * step, step, bytes + k * TQ1_0_BYTES);
        return 0;
    default:
        return unpack_pairs(format, codes, step, count, bytes);
    }
}
