/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_expression.c */
#include "literal.h"

#include <math.h>

collet_scalar literal_integer(int64_t value)
{
    return (collet_scalar){.value.i64 = value, .dtype = COLLET_I64};
}

collet_scalar literal_real(double value)
{
    return (collet_scalar){.value.f64 = value, .dtype = COLLET_F64};
}

int literal_is(const collet_scalar *s, double value)
{
    return (s->dtype == COLLET_I64 && (double)s->value.i64 == value) ||
           (s->dtype == COLLET_F64 && s->value.f64 == value &&
            !signbit(s->value.f64) == !signbit(value));
}

/* ---- Arithmetic -------------------------------------------------------------------------- */

static int power(int64_t a, int64_t b, int64_t *out)
{
    int64_t result = 1;
    for (; b > 0; b--) {
        if (__builtin_mul_overflow(result, a, &result))
            return 0;
        if (b > 64 && (a == 0 || a == 1 || a == -1))
            b = b % 2 + 2;
    }
    *out = result;
    return 1;
}

static int fold_integers(uint32_t op, int64_t a, int64_t b, collet_scalar *out)
{
    int64_t r = 0;
    int good = 0;
    switch (op) {
    case COLLET_OP_ADD:
        good = !__builtin_add_overflow(a, b, &r);
        break;
    case COLLET_OP_SUB:
        good = !__builtin_sub_overflow(a, b, &r);
        break;
    case COLLET_OP_MUL:
        good = !__builtin_mul_overflow(a, b, &r);
        break;
    case COLLET_OP_NEG:
        good = !__builtin_sub_overflow((int64_t)0, a, &r);
        break;
    case COLLET_OP_POW:
        good = b >= 0 && power(a, b, &r);
        break;
    case COLLET_OP_FLOOR_DIVIDE:
    case COLLET_OP_REMAINDER:
        good = b != 0 && !(a == INT64_MIN && b == -1);
        if (good) {
            int64_t rest = a % b, down = rest && (rest < 0) != (b < 0);
            r = op == COLLET_OP_REMAINDER ? rest + (down ? b : 0) : a / b - down;
        }
        break;
    default:
        break;
    }
    *out = literal_integer(r);
    return good;
}

static int fold_reals(uint32_t op, double a, double b, collet_scalar *out)
{
    double r = 0;
    switch (op) {
    case COLLET_OP_ADD:
        r = a + b;
        break;
    case COLLET_OP_SUB:
        r = a - b;
        break;
    case COLLET_OP_MUL:
        r = a * b;
        break;
    case COLLET_OP_NEG:
        r = -a;
        break;
    case COLLET_OP_DIV:
        if (b == 0.0)
            return 0;
        r = a / b;
        break;
    case COLLET_OP_POW:
        if (a < 0.0 || (a == 0.0 && b < 0.0))
            return 0;
        r = pow(a, b);
        break;
    default:
        return 0;
    }
    *out = literal_real(r);
    return 1;
}

static double real_of(const collet_scalar *s)
{
    return s->dtype == COLLET_I64 ? (double)s->value.i64 : s->value.f64;
}

static collet_c128 complex_of(const collet_scalar *s)
{
    return s->dtype == COLLET_C128 ? s->value.c128 : (collet_c128){real_of(s), 0.0};
}

static int fold_complex(uint32_t op, collet_c128 a, collet_c128 b, collet_scalar *out)
{
    *out = (collet_scalar){.dtype = COLLET_C128};
    switch (op) {
    case COLLET_OP_ADD:
        out->value.c128 = (collet_c128){a.re + b.re, a.im + b.im};
        return 1;
    case COLLET_OP_SUB:
        out->value.c128 = (collet_c128){a.re - b.re, a.im - b.im};
        return 1;
    case COLLET_OP_MUL:
        out->value.c128 = (collet_c128){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
        return 1;
    case COLLET_OP_NEG:
        out->value.c128 = (collet_c128){-a.re, -a.im};
        return 1;
    default:
        return 0;
    }
}

int literal_fold(uint32_t op, const collet_scalar *a, const collet_scalar *b, collet_scalar *out)
{
    if (!b)
        b = a;
    if (a->dtype == COLLET_BOOL || b->dtype == COLLET_BOOL)
        return 0;
    if (a->dtype == COLLET_C128 || b->dtype == COLLET_C128)
        return fold_complex(op, complex_of(a), complex_of(b), out);
    int whole = a->dtype == COLLET_I64 && b->dtype == COLLET_I64 && op != COLLET_OP_DIV;
    if (whole && !(op == COLLET_OP_POW && b->value.i64 < 0))
        return fold_integers(op, a->value.i64, b->value.i64, out);
    return fold_reals(op, real_of(a), real_of(b), out);
}

/* ---- Conversion -------------------------------------------------------------------------- */

/* A number in a form that every dtype fits. */
typedef struct number {
    int whole; /* 1: it is `integer`, or as u64 if `large` */
    int large;
    int64_t integer;
    double re, im;
    int complex;
} number;

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
    /* A carry, and a subnormal number, give the right exponent by themselves. */
    bits = ((uint32_t)(exponent + bias - 1) << mantissa) +
           (uint32_t)rint(ldexp(x, mantissa - exponent));
    return (uint16_t)(sign | (bits > infinity ? infinity : bits));
}

static double widened(uint16_t bits, int mantissa, int bias)
{
    int exponent = (bits & 0x7fff) >> mantissa, fraction = bits & ((1 << mantissa) - 1);
    double x = exponent == 2 * bias + 1 ? (fraction ? NAN : INFINITY)
               : exponent ? ldexp((1 << mantissa) + fraction, exponent - bias - mantissa)
                          : ldexp(fraction, 1 - bias - mantissa);
    return bits & 0x8000 ? -x : x;
}

static number read_number(const collet_scalar *s)
{
    number n = {.whole = 1};
    switch (s->dtype) {
#define READ_WHOLE(NAME, name)                                                                     \
    case COLLET_##NAME:                                                                            \
        n.integer = (int64_t)s->value.name;                                                        \
        n.re = (double)s->value.name;                                                              \
        break;
        READ_WHOLE(I8, i8)
        READ_WHOLE(U8, u8)
        READ_WHOLE(I16, i16)
        READ_WHOLE(U16, u16)
        READ_WHOLE(I32, i32)
        READ_WHOLE(U32, u32)
        READ_WHOLE(I64, i64)
        READ_WHOLE(U64, u64)
    case COLLET_BOOL:
        n.integer = s->value.b8 != 0;
        n.re = (double)n.integer;
        break;
    default:
        n.whole = 0;
        n.complex = s->dtype == COLLET_C64 || s->dtype == COLLET_C128;
        n.re = s->dtype == COLLET_F16    ? widened(s->value.f16, 10, 15)
               : s->dtype == COLLET_BF16 ? widened(s->value.bf16, 7, 127)
               : s->dtype == COLLET_F32  ? (double)s->value.f32
               : s->dtype == COLLET_F64  ? s->value.f64
               : s->dtype == COLLET_C64  ? (double)s->value.c64.re
                                         : s->value.c128.re;
        n.im = s->dtype == COLLET_C64    ? (double)s->value.c64.im
               : s->dtype == COLLET_C128 ? s->value.c128.im
                                         : 0.0;
    }
    n.large = s->dtype == COLLET_U64 && n.integer < 0;
    return n;
}

/* An integer between `low` and `high`: toward zero, saturating, NaN is 0. */
static int64_t saturated(const number *n, double low, double high, int64_t lowest, int64_t highest)
{
    if (n->whole)
        return n->large || n->integer > highest ? highest
               : n->integer < lowest            ? lowest
                                                : n->integer;
    return isnan(n->re) ? 0 : n->re <= low ? lowest : n->re >= high ? highest : (int64_t)n->re;
}

static int in_range(const number *n, int64_t low, uint64_t high)
{
    if (!n->whole)
        return 1;
    if (n->large || n->integer > 0)
        return (uint64_t)n->integer <= high;
    return n->integer >= low;
}

static int to_integer(collet_scalar *out, collet_dtype dtype, const number *n)
{
    switch (dtype) {
#define TO_SIGNED(NAME, name, type, LOW, HIGH)                                                     \
    case COLLET_##NAME:                                                                            \
        out->value.name = (type)saturated(n, (double)LOW, (double)HIGH, LOW, HIGH);                \
        return in_range(n, LOW, (uint64_t)HIGH);
        TO_SIGNED(I8, i8, int8_t, INT8_MIN, INT8_MAX)
        TO_SIGNED(I16, i16, int16_t, INT16_MIN, INT16_MAX)
        TO_SIGNED(I32, i32, int32_t, INT32_MIN, INT32_MAX)
        TO_SIGNED(I64, i64, int64_t, INT64_MIN, INT64_MAX)
        TO_SIGNED(U8, u8, uint8_t, 0, UINT8_MAX)
        TO_SIGNED(U16, u16, uint16_t, 0, UINT16_MAX)
        TO_SIGNED(U32, u32, uint32_t, 0, UINT32_MAX)
    default:
        out->value.u64 = n->whole          ? (n->large || n->integer > 0 ? (uint64_t)n->integer : 0)
                         : !(n->re > 0.0)  ? 0
                         : n->re >= 0x1p64 ? UINT64_MAX
                                           : (uint64_t)n->re;
        return in_range(n, 0, UINT64_MAX);
    }
}

int literal_convert(collet_scalar *out, collet_dtype dtype, const collet_scalar *from)
{
    number n = read_number(from);
    *out = (collet_scalar){.dtype = dtype};
    /* Once, from a whole number: f64 may round it before. */
    float single = n.large ? (float)(uint64_t)n.integer : n.whole ? (float)n.integer : (float)n.re;
    if (n.complex && dtype != COLLET_C64 && dtype != COLLET_C128 && dtype != COLLET_BOOL)
        return 0;
    switch (dtype) {
    case COLLET_F16:
        out->value.f16 = narrowed(n.re, 10, 15);
        return 1;
    case COLLET_BF16:
        out->value.bf16 = narrowed(n.re, 7, 127);
        return 1;
    case COLLET_F32:
        out->value.f32 = single;
        return 1;
    case COLLET_F64:
        out->value.f64 = n.re;
        return 1;
    case COLLET_C64:
        out->value.c64 = (collet_c64){single, (float)n.im};
        return 1;
    case COLLET_C128:
        out->value.c128 = (collet_c128){n.re, n.im};
        return 1;
    case COLLET_BOOL:
        out->value.b8 = n.re != 0.0 || n.im != 0.0;
        return 1;
    default:
        return to_integer(out, dtype, &n);
    }
}
