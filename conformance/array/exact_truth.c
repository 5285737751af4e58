/* SPDX-License-Identifier: Apache-2.0 */
/* Exact functions. Integers are computed in 128 bits; where backends use an instruction, this code computes digit by
 * digit. Floating-point numbers are computed in a format of 113 bits and rounded once. In this format products and
 * the errors of roundings are exact. A format with twice as many digits as the result, plus two, makes the second
 * rounding of + - * / and sqrt harmless (S. Figueroa, 1995).
 * Tests: tests/conformance/test_truth.c */
#include "truth.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "kit.h"

#if __LDBL_MANT_DIG__ == 113
typedef long double wide;
#else
__extension__ typedef __float128 wide;
#endif
__extension__ typedef __int128 i128;
__extension__ typedef unsigned __int128 u128;

#define CASE(NAME, value)                                                                          \
    case COLLET_OP_##NAME:                                                                         \
        return (value);

/* ---- Integers -------------------------------------------------------------------------------- */

/* Applies a function of two bits to all bits of a and b: bit a + 2 b of `table` is its result. */
static u128 bit_by_bit(u128 a, u128 b, unsigned table)
{
    u128 result = 0;
    for (int i = 127; i >= 0; i--)
        result = 2 * result + (table >> ((a >> i & 1) + 2 * (b >> i & 1)) & 1);
    return result;
}

enum { AND = 8, OR = 14, XOR = 6, NOT_FIRST = 5 };

/* a 2^b, or the largest integer that is at most a 2^-b */
static i128 shifted(i128 a, i128 b, int bits, bool left)
{
    int count = b < 0 || b > bits ? bits : (int)b;
    for (; count > 0; count--)
        a = left ? (i128)((u128)a + (u128)a) : (a - (a % 2 != 0 ? 1 : 0)) / 2;
    return a;
}

static i128 remainder_of(i128 a, i128 b)
{
    return b == 0 ? 0 : (a % b + b) % b;
}

/* Squares and multiplies, from the highest bit of the exponent b. */
static i128 integer_power(i128 a, i128 b)
{
    u128 result = 1;
    if (b < 0)
        return a == 1 ? 1 : a == -1 ? 1 - 2 * (-b % 2) : 0;
    for (int i = 63; i >= 0; i--) {
        result *= result;
        result *= b >> i & 1 ? (u128)a : 1;
    }
    return (i128)result;
}

static i128 lesser(i128 a, i128 b)
{
    i128 values[2] = {a, b};
    return values[b - a < 0];
}

static i128 integer(uint32_t op, const i128 x[3], int bits)
{
    i128 a = x[0], b = x[1];
    switch (op) {
        CASE(ADD, a + b)
        CASE(SUB, a - b)
        CASE(MUL, (i128)((u128)a * (u128)b))
        CASE(SQUARE, (i128)((u128)a * (u128)a))
        CASE(NEG, 0 - a)
        CASE(ABS, a < 0 ? 0 - a : a)
        CASE(SIGN, a == 0 ? 0 : a < 0 ? -1 : 1)
        CASE(FLOOR_DIVIDE, b == 0 ? 0 : (a - remainder_of(a, b)) / b)
        CASE(REMAINDER, remainder_of(a, b))
        CASE(POW, integer_power(a, b))
        CASE(MINIMUM, lesser(a, b))
        CASE(MAXIMUM, a + b - lesser(a, b))
        CASE(CLIP, lesser(a + b - lesser(a, b), x[2]))
        CASE(BITWISE_AND, (i128)bit_by_bit((u128)a, (u128)b, AND))
        CASE(BITWISE_OR, (i128)bit_by_bit((u128)a, (u128)b, OR))
        CASE(BITWISE_XOR, (i128)bit_by_bit((u128)a, (u128)b, XOR))
        CASE(BITWISE_INVERT, (i128)bit_by_bit((u128)a, 0, NOT_FIRST))
        CASE(BITWISE_LEFT_SHIFT, shifted(a, b, bits, true))
        CASE(BITWISE_RIGHT_SHIFT, shifted(a, b, bits, false))
    default:
        return 0;
    }
}

/* Bools: as bits. */
static i128 logical(uint32_t op, const i128 x[3])
{
    unsigned table = op == COLLET_OP_LOGICAL_AND || op == COLLET_OP_BITWISE_AND   ? AND
                     : op == COLLET_OP_LOGICAL_OR || op == COLLET_OP_BITWISE_OR   ? OR
                     : op == COLLET_OP_LOGICAL_XOR || op == COLLET_OP_BITWISE_XOR ? XOR
                                                                                  : NOT_FIRST;
    return table >> (x[0] + 2 * x[1]) & 1;
}

/* ---- Order ----------------------------------------------------------------------------------- */

enum { LESS = 1, EQUAL = 2, GREATER = 4, UNORDERED = 8 };

/* The orders of two operands for which the comparison `op` is true; 0: op is no comparison. */
static unsigned accepted(uint32_t op)
{
    switch (op) {
        CASE(EQUAL, EQUAL)
        CASE(NOT_EQUAL, LESS | GREATER | UNORDERED)
        CASE(LESS, LESS)
        CASE(LESS_EQUAL, LESS | EQUAL)
        CASE(GREATER, GREATER)
        CASE(GREATER_EQUAL, GREATER | EQUAL)
    default:
        return 0;
    }
}

static unsigned order(wide a, wide b)
{
    return a != a || b != b ? UNORDERED : a == b ? EQUAL : a < b ? LESS : GREATER;
}

/* ---- Floating numbers ------------------------------------------------------------------------ */

static bool negative(wide x)
{
    return signbit((double)x);
}

static bool is_finite(wide x)
{
    return x - x == 0;
}

static wide with_sign(wide size, bool minus)
{
    return minus ? -size : size;
}

/* -0 is less than +0; a NaN is returned. */
static wide smaller(wide a, wide b)
{
    if (order(a, b) == UNORDERED)
        return a + b;
    return order(a, b) == LESS || (order(a, b) == EQUAL && negative(a)) ? a : b;
}

static wide larger(wide a, wide b)
{
    return -smaller(-a, -b);
}

/* A square root of 113 bits: one Newton step from a square root of 64 bits. */
static wide root(wide x)
{
    wide y = (wide)sqrtl((long double)x);
    return y == 0 || !is_finite(y) ? y : (y + x / y) / 2;
}

/* a b + c, rounded to odd instead of to nearest: if bits are lost, the last bit becomes 1. Then rounding to fewer
 * digits gives the right result. The product is exact. */
static wide multiply_add(wide a, wide b, wide c)
{
    wide product = a * b, sum = product + c;
    wide part = sum - product, lost = (product - (sum - part)) + (c - part);
    u128 bits;
    if (!is_finite(sum) || lost == 0)
        return sum;
    memcpy(&bits, &sum, sizeof bits);
    if (bits % 2 == 0) /* towards `lost`: the exact sum is then on the same side of any tie */
        bits = (lost > 0) == (sum > 0) ? bits + 1 : bits - 1;
    memcpy(&sum, &bits, sizeof bits);
    return sum;
}

static bool is_whole(wide a)
{
    return a != a || !is_finite(a) || a >= 0x1p112L || a <= -0x1p112L || (wide)(i128)a == a;
}

/* Ways to round to an integer: rounded() takes the integer below a and adds 1 if `up`. */
enum { DOWN, UP, TOWARDS_ZERO, NEAREST };

static wide rounded(wide a, int how)
{
    if (is_whole(a))
        return a;
    i128 below = (i128)a - (a < 0 ? 1 : 0);
    wide fraction = a - (wide)below;
    bool up = how == UP             ? true
              : how == DOWN         ? false
              : how == TOWARDS_ZERO ? a < 0
                                    : fraction > 0.5L || (fraction == 0.5L && below % 2 != 0);
    wide result = (wide)(below + up);
    return result == 0 ? with_sign(0, negative(a)) : result;
}

/* |a| modulo |b|, both finite and b not 0: subtracts |b| 2^k with k from the largest down to 0. */
static wide modulo(wide a, wide b)
{
    wide rest = a < 0 ? -a : a, unit = b < 0 ? -b : b, multiple = unit;
    while (multiple <= rest / 2)
        multiple *= 2;
    for (; multiple >= unit; multiple /= 2)
        rest = rest >= multiple ? rest - multiple : rest;
    return rest;
}

/* a - b floor(a / b) to 113 bits */
static wide floor_remainder(wide a, wide b)
{
    if (!is_finite(a) || b == 0 || b != b)
        return (wide)NAN;
    if (!is_finite(b))
        return a == 0 ? with_sign(0, negative(b)) : negative(a) == negative(b) ? a : b;
    wide rest = with_sign(modulo(a, b), negative(a));
    if (rest == 0)
        return with_sign(0, negative(b));
    return negative(rest) == negative(b) ? rest : rest + b;
}

static wide floor_quotient(wide a, wide b)
{
    wide ratio = a / b;
    if (b == 0 || a != a || b != b)
        return ratio;
    if (!is_finite(a))
        return (wide)NAN;
    if (!is_finite(b))
        return a == 0 || negative(a) == negative(b) ? with_sign(0, negative(a) != negative(b)) : -1;
    wide whole = rounded((a - floor_remainder(a, b)) / b, NEAREST);
    return whole == 0 ? with_sign(0, negative(a) != negative(b)) : whole;
}

/* nextafter of f32 or f64: one step in the order of all numbers. */
static wide next_after(wide a, wide b, bool is_f32)
{
    double d = (double)a;
    float f = (float)d;
    int32_t word = 0;
    int64_t place;
    if (order(a, b) & (UNORDERED | EQUAL))
        return order(a, b) == EQUAL ? b : a + b;
    memcpy(&word, &f, sizeof word);
    memcpy(&place, &d, sizeof place);
    place = is_f32 ? word : place;
    int64_t lowest = is_f32 ? INT32_MIN : INT64_MIN;
    place = place < 0 ? lowest - place : place;
    place += b > a ? 1 : -1;
    place = place < 0 || (place == 0 && negative(a)) ? lowest - place : place;
    word = (int32_t)place;
    memcpy(&f, &word, sizeof f);
    memcpy(&d, &place, sizeof d);
    return is_f32 ? (wide)f : (wide)d;
}

static wide floating(uint32_t op, const wide x[3], bool is_f32)
{
    wide a = x[0], b = x[1];
    switch (op) {
        CASE(ADD, a + b)
        CASE(SUB, a - b)
        CASE(MUL, a * b)
        CASE(DIV, a / b)
        CASE(SQUARE, a * a)
        CASE(RECIPROCAL, 1 / a)
        CASE(SQRT, root(a))
        CASE(NEG, with_sign(a, true))
        CASE(ABS, with_sign(a, negative(a)))
        CASE(SIGN, a != a ? a : (wide)((order(a, 0) == GREATER) - (order(a, 0) == LESS)))
        CASE(COPYSIGN, with_sign(with_sign(a, negative(a)), negative(b)))
        CASE(NEXTAFTER, next_after(a, b, is_f32))
        CASE(FMA, multiply_add(a, b, x[2]))
        CASE(MINIMUM, smaller(a, b))
        CASE(MAXIMUM, larger(a, b))
        CASE(CLIP, smaller(larger(a, b), x[2]))
        CASE(FLOOR, rounded(a, DOWN))
        CASE(CEIL, rounded(a, UP))
        CASE(TRUNC, rounded(a, TOWARDS_ZERO))
        CASE(ROUND, rounded(a, NEAREST))
        CASE(REMAINDER, floor_remainder(a, b))
        CASE(FLOOR_DIVIDE, floor_quotient(a, b))
    default:
        return (wide)NAN;
    }
}

/* isfinite, isinf, isnan and signbit of a number with two parts: 0 or 1. -1: op is another function. */
static int classified(uint32_t op, const wide parts[2])
{
    bool nan = parts[0] != parts[0] || parts[1] != parts[1];
    bool infinite = false;
    for (int p = 0; p < 2; p++)
        infinite = infinite || (parts[p] == parts[p] && !is_finite(parts[p]));
    switch (op) {
        CASE(ISNAN, nan)
        CASE(ISINF, infinite)
        CASE(ISFINITE, !nan && !infinite)
        CASE(SIGNBIT, negative(parts[0]))
    default:
        return -1;
    }
}

/* ---- Elements -------------------------------------------------------------------------------- */

static wide load(collet_dtype part, const char *at)
{
    return (wide)kit_value(part, at);
}

/* Rounds once. f16 and bf16 are rounded to f32 first, as docs/KERNELS.md says. */
static void store(collet_dtype part, wide value, char *at)
{
    double f64 = (double)value;
    float f32 = (float)value;
    if (part == COLLET_F64)
        memcpy(at, &f64, sizeof f64);
    else if (part == COLLET_F32)
        memcpy(at, &f32, sizeof f32);
    else
        kit_convert(part, (long double)f32, at);
}

static void complex_element(uint32_t op, collet_dtype part, char *const at[4])
{
    size_t size = collet_dtype_size(part);
    wide a[2], b[2] = {0, 0}, products[4];
    char *re = at[0], *im = at[0] + size, rounded_part[8];
    for (int p = 0; p < 2; p++) {
        a[p] = load(part, at[1] + (size_t)p * size);
        b[p] = at[2] ? load(part, at[2] + (size_t)p * size) : a[p];
    }
    unsigned both = accepted(op);
    if (both) {
        bool equal = order(a[0], b[0]) == EQUAL && order(a[1], b[1]) == EQUAL;
        at[0][0] = (char)(equal == (op == COLLET_OP_EQUAL));
        return;
    }
    if (classified(op, a) >= 0) {
        at[0][0] = (char)classified(op, a);
        return;
    }
    switch (op) {
    case COLLET_OP_REAL:
    case COLLET_OP_IMAG:
        store(part, a[op == COLLET_OP_IMAG], re);
        return;
    case COLLET_OP_CONJ:
        store(part, a[0], re);
        store(part, with_sign(a[1], true), im);
        return;
    case COLLET_OP_MUL:
    case COLLET_OP_SQUARE: /* every product and sum rounded */
        for (int k = 0; k < 4; k++) {
            store(part, a[k / 2] * (op == COLLET_OP_MUL ? b : a)[k % 2], rounded_part);
            products[k] = load(part, rounded_part);
        }
        store(part, products[0] - products[3], re);
        store(part, products[1] + products[2], im);
        return;
    default:
        for (int p = 0; p < 2; p++) {
            const wide x[3] = {a[p], b[p], 0};
            store(part, floating(op, x, part == COLLET_F32), at[0] + (size_t)p * size);
        }
        return;
    }
}

static void real_element(uint32_t op, collet_dtype dtype, char *const at[4])
{
    wide x[3] = {0};
    for (int k = 0; k < 3; k++)
        x[k] = at[k + 1] ? load(dtype, at[k + 1]) : 0;
    if (accepted(op))
        at[0][0] = (accepted(op) & order(x[0], x[1])) != 0;
    else if (classified(op, (const wide[2]){x[0], 0}) >= 0)
        at[0][0] = (char)classified(op, (const wide[2]){x[0], 0});
    else
        store(dtype, floating(op, x, dtype != COLLET_F64), at[0]);
}

static void integer_element(uint32_t op, collet_dtype dtype, char *const at[4])
{
    i128 x[3] = {0};
    for (int k = 0; k < 3; k++)
        x[k] = !at[k + 1]             ? 0
               : dtype == COLLET_BOOL ? at[k + 1][0] != 0
                                      : (i128)kit_value(dtype, at[k + 1]);
    i128 result = accepted(op)           ? (accepted(op) & order((wide)x[0], (wide)x[1])) != 0
                  : dtype == COLLET_BOOL ? logical(op, x)
                                         : integer(op, x, 8 * (int)collet_dtype_size(dtype));
    memcpy(at[0], &result, accepted(op) ? 1 : collet_dtype_size(dtype));
}

void truth_exact(uint32_t op, collet_dtype dtype, char *const at[4])
{
    collet_dtype part = kit_part(dtype);
    size_t size = collet_dtype_size(dtype);
    if (op == COLLET_OP_WHERE && dtype == COLLET_BOOL)
        at[0][0] = at[at[1][0] ? 2 : 3][0] != 0;
    else if (op == COLLET_OP_WHERE)
        memcpy(at[0], at[at[1][0] ? 2 : 3], size);
    else if (op == COLLET_OP_COMPLEX) {
        memcpy(at[0], at[1], size);
        memcpy(at[0] + size, at[2], size);
    } else if (part != dtype)
        complex_element(op, part, at);
    else if (kit_is_real_float(dtype))
        real_element(op, dtype, at);
    else
        integer_element(op, dtype, at);
}
