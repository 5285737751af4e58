/* SPDX-License-Identifier: Apache-2.0 */
/* ternary: position of each weight of a packed row, and the rows of a case.
 * Tests: tests/conformance/test_broken.c */
#include "formats.h"

#include <string.h>

static int64_t whole(int64_t count, int64_t block)
{
    return (count + block - 1) / block;
}

bool ternary_has_scale(uint32_t format)
{
    return format == COLLET_TERNARY_TQ2_0 || format == COLLET_TERNARY_TQ1_0;
}

bool ternary_has_rows(uint32_t format, int64_t weights)
{
    return !ternary_has_scale(format) || weights % 256 == 0;
}

int64_t ternary_block_bytes(uint32_t format)
{
    return format == COLLET_TERNARY_TQ2_0 ? 66 : 54;
}

int64_t ternary_row_bytes(uint32_t format, int64_t weights)
{
    switch (format) {
    case COLLET_TERNARY_T2:
        return whole(weights, 256) * 64;
    case COLLET_TERNARY_PLANES:
        return 2 * whole(weights, 8);
    case COLLET_TERNARY_ROTOR:
        return whole(weights, 4);
    default:
        return weights / 256 * ternary_block_bytes(format);
    }
}

/* Position of a weight: two bits at `shift`, or the bits `plus` and `minus`, or base-3 digit
 * `digit` of the byte. */
typedef struct place {
    int64_t byte, minus_byte;
    int shift, minus_shift, digit;
} place;

static place place_of(uint32_t format, int64_t weights, int64_t i)
{
    int64_t block = i / 256 * ternary_block_bytes(format), in = i % 256;
    if (format == COLLET_TERNARY_T2)
        return (place){.byte = i / 256 * 64 + i % 64, .shift = (int)(in / 64 * 2)};
    if (format == COLLET_TERNARY_PLANES)
        return (place){.byte = i / 8,
                       .minus_byte = whole(weights, 8) + i / 8,
                       .shift = (int)(i % 8),
                       .minus_shift = (int)(i % 8)};
    if (format == COLLET_TERNARY_ROTOR)
        return (place){.byte = i / 4,
                       .minus_byte = i / 4,
                       .shift = (int)(i % 4 * 2 + 1),
                       .minus_shift = (int)(i % 4 * 2)};
    if (format == COLLET_TERNARY_TQ2_0)
        return (place){.byte = block + in / 128 * 32 + in % 32, .shift = (int)(in % 128 / 32 * 2)};
    if (in < 160)
        return (place){.byte = block + in % 32, .digit = (int)(in / 32)};
    if (in < 240)
        return (place){.byte = block + 32 + (in - 160) % 16, .digit = (int)((in - 160) / 16)};
    return (place){.byte = block + 48 + (in - 240) % 4, .digit = (int)((in - 240) / 4)};
}

static bool has_bits(uint32_t format)
{
    return format == COLLET_TERNARY_PLANES || format == COLLET_TERNARY_ROTOR;
}

static const int digit_worth[] = {81, 27, 9, 3, 1};

int ternary_read(uint32_t format, const unsigned char *row, int64_t weights, int64_t i)
{
    place p = place_of(format, weights, i);
    if (has_bits(format)) {
        int plus = row[p.byte] >> p.shift & 1, minus = row[p.minus_byte] >> p.minus_shift & 1;
        return plus && minus ? TERNARY_INVALID : plus - minus;
    }
    if (format == COLLET_TERNARY_TQ1_0)
        return row[p.byte] * 243 / 256 / digit_worth[p.digit] % 3 - 1;
    return (row[p.byte] >> p.shift & 3) - 1;
}

void ternary_write(uint32_t format, unsigned char *row, int64_t weights, int64_t i, int weight)
{
    place p = place_of(format, weights, i);
    if (has_bits(format)) {
        row[p.byte] = (unsigned char)(row[p.byte] | (weight == 1 || weight == 2) << p.shift);
        row[p.minus_byte] =
            (unsigned char)(row[p.minus_byte] | (weight == -1 || weight == 2) << p.minus_shift);
    } else if (format == COLLET_TERNARY_TQ1_0) {
        /* Converts between a number and its byte, number * 256 / 243 rounded up. */
        int number = row[p.byte] * 243 / 256 + weight * digit_worth[p.digit];
        row[p.byte] = (unsigned char)((number * 256 + 242) / 243);
    } else {
        row[p.byte] = (unsigned char)((row[p.byte] & ~(3 << p.shift)) | (weight + 1) << p.shift);
    }
}

void ternary_clear(uint32_t format, unsigned char *row, int64_t weights)
{
    memset(row, format == COLLET_TERNARY_T2 ? 0x55 : 0, (size_t)ternary_row_bytes(format, weights));
    for (int64_t block = 0; ternary_has_scale(format) && block < weights / 256; block++) {
        unsigned char *first = row + block * ternary_block_bytes(format);
        if (format == COLLET_TERNARY_TQ2_0) {
            memset(first, 0x55, 64);
            continue;
        }
        memset(first, (121 * 256 + 242) / 243, 48);     /* digits 11111 */
        memset(first + 48, (120 * 256 + 242) / 243, 4); /* 11110 */
    }
}

unsigned char *ternary_scale(uint32_t format, unsigned char *row, int64_t block)
{
    return row + (block + 1) * ternary_block_bytes(format) - 2;
}

/* ---- Rows of a case ------------------------------------------------------------------------ */

int64_t ternary_rows(const kit_case *c, int32_t own_0)
{
    int64_t rows = 1;
    for (int32_t a = 0; a < c->operand[0].ndim - own_0; a++)
        rows *= c->operand[0].shape[a];
    return rows;
}

int64_t ternary_row(const kit_case *c, uint32_t k, int32_t own_k, int32_t own_0, int64_t r)
{
    const kit_tensor *out = &c->operand[0], *t = &c->operand[k];
    int64_t at = 0, scale = own_k ? t->shape[t->ndim - 1] : 1;
    for (int32_t a = out->ndim - own_0 - 1, b = t->ndim - own_k - 1; b >= 0; a--, b--) {
        if (t->shape[b] > 1)
            at += r % out->shape[a] * scale;
        scale *= t->shape[b];
        r /= out->shape[a];
    }
    return at;
}
