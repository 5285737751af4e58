/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_expression_numbers.c */
#include "literal.h"

#include <math.h>
#include <stdio.h>

#include "numerals.h"

literal literal_of_integer(literal_integer value)
{
    return (literal){.integer = value, .dtype = COLLET_I64};
}

literal literal_of_real(double value)
{
    return (literal){.re = value, .dtype = COLLET_F64};
}

literal literal_of_complex(double re, double im)
{
    return (literal){.re = re, .im = im, .dtype = COLLET_C128};
}

literal literal_of_bool(int value)
{
    return (literal){.integer = value != 0, .dtype = COLLET_BOOL};
}

int literal_is(const literal *n, double value)
{
    return (n->dtype == COLLET_I64 && (double)n->integer == value) ||
           (n->dtype == COLLET_F64 && n->re == value && !signbit(n->re) == !signbit(value));
}

/* ---- Reading ----------------------------------------------------------------------------- */

static double widened(uint16_t bits, int mantissa, int bias)
{
    int exponent = (bits & 0x7fff) >> mantissa, fraction = bits & ((1 << mantissa) - 1);
    double x = exponent == 2 * bias + 1 ? (fraction ? NAN : INFINITY)
               : exponent ? ldexp((1 << mantissa) + fraction, exponent - bias - mantissa)
                          : ldexp(fraction, 1 - bias - mantissa);
    return bits & 0x8000 ? -x : x;
}

literal literal_read(const collet_scalar *s, int weak)
{
    literal n = {.dtype = s->dtype};
    switch (s->dtype) {
#define READ_INTEGER(NAME, name)                                                                   \
    case COLLET_##NAME:                                                                            \
        n.integer = s->value.name;                                                                 \
        n.dtype = weak ? COLLET_I64 : s->dtype;                                                    \
        break;
        READ_INTEGER(I8, i8)
        READ_INTEGER(U8, u8)
        READ_INTEGER(I16, i16)
        READ_INTEGER(U16, u16)
        READ_INTEGER(I32, i32)
        READ_INTEGER(U32, u32)
        READ_INTEGER(I64, i64)
        READ_INTEGER(U64, u64)
    case COLLET_BOOL:
        n.integer = s->value.b8 != 0;
        break;
    case COLLET_F16:
        n.re = widened(s->value.f16, 10, 15);
        break;
    case COLLET_BF16:
        n.re = widened(s->value.bf16, 7, 127);
        break;
    case COLLET_F32:
        n.re = (double)s->value.f32;
        break;
    case COLLET_F64:
        n.re = s->value.f64;
        break;
    case COLLET_C64:
        n.re = (double)s->value.c64.re;
        n.im = (double)s->value.c64.im;
        break;
    default:
        n.re = s->value.c128.re;
        n.im = s->value.c128.im;
    }
    return n;
}

/* ---- Conversion -------------------------------------------------------------------------- */

/* The bits of x rounded to nearest even in a format of 16 bits. */
static uint16_t narrowed(double x, int mantissa, int bias)
{
    const uint32_t infinity = (uint32_t)(2 * bias + 1) << mantissa;
    uint32_t sign = signbit(x) ? 0x8000u : 0, bits;
    int exponent;
    if (isnan(x))
        return (uint16_t)(sign | infinity | 1u << (mantissa - 1));
    x = fabs(x);
    if (isinf(x))
        return (uint16_t)(sign | infinity);
    (void)frexp(x, &exponent);
    exponent = x == 0.0 || exponent - 1 < 1 - bias ? 1 - bias : exponent - 1;
    if (exponent > bias)
        return (uint16_t)(sign | infinity);
    /* The exponent needs no correction after a carry or for a subnormal number. */
    bits = ((uint32_t)(exponent + bias - 1) << mantissa) +
           (uint32_t)rint(ldexp(x, mantissa - exponent));
    return (uint16_t)(sign | (bits > infinity ? infinity : bits));
}

/* An f64 that rounds to a shorter format as the integer does: if 53 bits are not enough, the last bit is set. */
static double rounded_to_odd(literal_integer v)
{
    literal_integer size = v < 0 ? -v : v, top = size;
    int shift = 0;
    while (top >> 53) {
        top >>= 1;
        shift++;
    }
    if (size != top << shift)
        top |= 1;
    return ldexp(v < 0 ? -(double)top : (double)top, shift);
}

/* Rounds toward zero and saturates; NaN becomes 0. */
static literal_integer saturated(const literal *n, literal_integer lowest, literal_integer highest)
{
    if (!literal_is_whole(n))
        return isnan(n->re)               ? 0
               : n->re <= (double)lowest  ? lowest
               : n->re >= (double)highest ? highest
                                          : (literal_integer)n->re;
    return n->integer < lowest ? lowest : n->integer > highest ? highest : n->integer;
}

/* Returns 0 for an integer beyond the dtype. */
static int to_integer(collet_scalar *out, collet_dtype dtype, const literal *n)
{
    literal_integer fit;
    switch (dtype) {
#define TO_INTEGER(NAME, name, type, LOW, HIGH)                                                    \
    case COLLET_##NAME:                                                                            \
        fit = saturated(n, LOW, HIGH);                                                             \
        out->value.name = (type)fit;                                                               \
        break;
        TO_INTEGER(I8, i8, int8_t, INT8_MIN, INT8_MAX)
        TO_INTEGER(I16, i16, int16_t, INT16_MIN, INT16_MAX)
        TO_INTEGER(I32, i32, int32_t, INT32_MIN, INT32_MAX)
        TO_INTEGER(I64, i64, int64_t, INT64_MIN, INT64_MAX)
        TO_INTEGER(U8, u8, uint8_t, 0, UINT8_MAX)
        TO_INTEGER(U16, u16, uint16_t, 0, UINT16_MAX)
        TO_INTEGER(U32, u32, uint32_t, 0, UINT32_MAX)
    default:
        fit = saturated(n, 0, UINT64_MAX);
        out->value.u64 = (uint64_t)fit;
    }
    return !literal_is_whole(n) || fit == n->integer;
}

int literal_convert(collet_scalar *out, collet_dtype dtype, const literal *n)
{
    int whole = literal_is_whole(n);
    int complex = n->dtype == COLLET_C64 || n->dtype == COLLET_C128;
    *out = (collet_scalar){.dtype = dtype};
    if (complex && dtype != COLLET_C64 && dtype != COLLET_C128 && dtype != COLLET_BOOL)
        return 0;
    /* f32 is converted from the integer directly, because a conversion to f64 may round first. */
    double re = whole ? (double)n->integer : n->re;
    float single = whole ? (float)n->integer : (float)n->re;
    switch (dtype) {
    case COLLET_F16:
        out->value.f16 = narrowed(whole ? rounded_to_odd(n->integer) : re, 10, 15);
        return 1;
    case COLLET_BF16:
        out->value.bf16 = narrowed(whole ? rounded_to_odd(n->integer) : re, 7, 127);
        return 1;
    case COLLET_F32:
        out->value.f32 = single;
        return 1;
    case COLLET_F64:
        out->value.f64 = re;
        return 1;
    case COLLET_C64:
        out->value.c64 = (collet_c64){single, (float)n->im};
        return 1;
    case COLLET_C128:
        out->value.c128 = (collet_c128){re, n->im};
        return 1;
    case COLLET_BOOL:
        out->value.b8 = re != 0.0 || n->im != 0.0;
        return 1;
    default:
        return to_integer(out, dtype, n);
    }
}

int literal_beyond(const literal *n, collet_dtype dtype)
{
    collet_scalar s;
    return to_integer(&s, dtype, n) ? 0 : n->integer < 0 ? -1 : 1;
}

/* ---- Text -------------------------------------------------------------------------------- */

static const char *integer_text(literal_integer v, char text[LITERAL_TEXT])
{
    int negative = v < 0, at = LITERAL_TEXT - 1;
    text[at] = '\0';
    do {
        text[--at] = (char)('0' + (int)(negative ? -(v % 10) : v % 10));
        v /= 10;
    } while (v);
    if (negative)
        text[--at] = '-';
    return text + at;
}

const char *literal_text(const literal *n, char text[LITERAL_TEXT])
{
    if (n->dtype == COLLET_BOOL)
        return n->integer ? "True" : "False";
    if (literal_is_whole(n))
        return integer_text(n->integer, text);
    locale_t before = numerals_begin();
    if (n->dtype == COLLET_C64 || n->dtype == COLLET_C128)
        snprintf(text, LITERAL_TEXT, "(%.12g%+.12gj)", n->re, n->im);
    else
        snprintf(text, LITERAL_TEXT, "%.12g", n->re);
    numerals_end(before);
    return text;
}
