/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_expression_numbers.c, python/tests/op/test_random_numbers.py */
#include "fold.h"

#include <math.h>

#include "op/elementwise.h"

static collet_status refuse(uint32_t op, const literal *in, uint32_t count, const char *why,
                            collet_error *err)
{
    char texts[2][LITERAL_TEXT];
    const char *second = count > 1 ? literal_text(&in[1], texts[1]) : "";
    return collet_fail(err, COLLET_INVALID, "%s(%s%s%s) %s", elementwise_of(op)->name,
                       literal_text(&in[0], texts[0]), count > 1 ? ", " : "", second, why);
}

#define BY_ZERO "divides by zero"
#define TOO_LONG                                                                                   \
    "is an integer of more than 127 bits; write one of the numbers with a decimal point"

/* ---- Integers ---------------------------------------------------------------------------- */

static int power(literal_integer a, literal_integer b, literal_integer *out)
{
    literal_integer result = 1;
    if (a == 0 || a == 1 || a == -1)
        b = b ? 2 - b % 2 : 0;
    for (; b; b--)
        if (__builtin_mul_overflow(result, a, &result))
            return 0;
    *out = result;
    return 1;
}

static literal_integer floor_divided(literal_integer a, literal_integer b, literal_integer *rest)
{
    literal_integer r = a % b, down = r && (r < 0) != (b < 0);
    *rest = r + (down ? b : 0);
    return a / b - down;
}

/* a / b, rounded once: computes at least 55 bits of the quotient, and sets the last bit if the
 * remainder is not 0. */
static double divided(literal_integer a, literal_integer b)
{
    unsigned __int128 n = (unsigned __int128)(a < 0 ? -a : a);
    unsigned __int128 d = (unsigned __int128)(b < 0 ? -b : b), quotient = n / d, rest = n % d;
    int shift = 0;
    while (!(quotient >> 55) && n) {
        rest <<= 1;
        quotient = quotient << 1 | (rest >= d);
        rest -= rest >= d ? d : 0;
        shift++;
    }
    double size = ldexp((double)(quotient | (rest != 0)), -shift);
    return (a < 0) != (b < 0) ? -size : size;
}

static literal_integer larger(literal_integer a, literal_integer b)
{
    return a > b ? a : b;
}

static literal_integer smaller(literal_integer a, literal_integer b)
{
    return a < b ? a : b;
}

/* Computes an op whose result is an integer; returns 0 if the integer has too many bits. The caller has checked
 * divisors and shifts. */
static int compute(uint32_t op, const literal *in, literal_integer *out)
{
    literal_integer a = in[0].integer, b = in[1].integer, rest;
    switch (op) {
    case COLLET_OP_ADD:
        return !__builtin_add_overflow(a, b, out);
    case COLLET_OP_SUB:
        return !__builtin_sub_overflow(a, b, out);
    case COLLET_OP_MUL:
        return !__builtin_mul_overflow(a, b, out);
    case COLLET_OP_SQUARE:
        return !__builtin_mul_overflow(a, a, out);
    case COLLET_OP_NEG:
        *out = -a;
        return 1;
    case COLLET_OP_ABS:
        *out = a < 0 ? -a : a;
        return 1;
    case COLLET_OP_SIGN:
        *out = (a > 0) - (a < 0);
        return 1;
    case COLLET_OP_POW:
        return power(a, b, out);
    case COLLET_OP_FLOOR_DIVIDE:
        *out = floor_divided(a, b, &rest);
        return 1;
    case COLLET_OP_REMAINDER:
        (void)floor_divided(a, b, out);
        return 1;
    case COLLET_OP_MAXIMUM:
        *out = larger(a, b);
        return 1;
    case COLLET_OP_MINIMUM:
        *out = smaller(a, b);
        return 1;
    case COLLET_OP_CLIP:
        *out = smaller(larger(a, b), in[2].integer);
        return 1;
    case COLLET_OP_BITWISE_AND:
        *out = a & b;
        return 1;
    case COLLET_OP_BITWISE_OR:
        *out = a | b;
        return 1;
    case COLLET_OP_BITWISE_XOR:
        *out = a ^ b;
        return 1;
    case COLLET_OP_BITWISE_INVERT:
        *out = ~a;
        return 1;
    case COLLET_OP_BITWISE_LEFT_SHIFT:
        *out = 0;
        return !a || (b < LITERAL_BITS && !__builtin_mul_overflow(a, (literal_integer)1 << b, out));
    case COLLET_OP_BITWISE_RIGHT_SHIFT:
        *out = a >> (b < LITERAL_BITS ? b : LITERAL_BITS);
        return 1;
    default: /* where */
        *out = in[1 + !a].integer;
        return 1;
    }
}

static collet_status fold_real(uint32_t op, double a, double b, const literal *in, literal *out,
                               collet_error *err);

static collet_status fold_integers(uint32_t op, collet_dtype dtype, const literal *in,
                                   uint32_t count, literal *out, collet_error *err)
{
    const literal_integer least = (literal_integer)1 << (LITERAL_BITS - 1);
    literal_integer made, b = count > 1 ? in[1].integer : 0;
    if ((op == COLLET_OP_FLOOR_DIVIDE || op == COLLET_OP_REMAINDER) && !b)
        return refuse(op, in, count, BY_ZERO, err);
    if ((op == COLLET_OP_BITWISE_LEFT_SHIFT || op == COLLET_OP_BITWISE_RIGHT_SHIFT) && b < 0)
        return refuse(op, in, count, "shifts by a negative number", err);
    if (op == COLLET_OP_POW && b < 0)
        return fold_real(op, (double)in[0].integer, (double)b, in, out, err);
    if (!compute(op, in, &made) || made == -least - least)
        return refuse(op, in, count, TOO_LONG, err);
    *out = literal_of_integer(made);
    out->dtype = dtype;
    return COLLET_OK;
}

/* ---- Real and complex numbers ------------------------------------------------------------ */

static double real_of(const literal *n)
{
    return literal_is_whole(n) ? (double)n->integer : n->re;
}

static double floored(double a, double b, double *rest)
{
    double r = fmod(a, b), quotient = (a - r) / b, whole;
    if (r != 0.0 && (r < 0) != (b < 0)) {
        r += b;
        quotient -= 1.0;
    }
    *rest = r != 0.0 ? r : copysign(0.0, b);
    whole = floor(quotient);
    return quotient == 0.0 ? copysign(0.0, a / b) : quotient - whole > 0.5 ? whole + 1.0 : whole;
}

static collet_status power_of(double a, double b, const literal *in, literal *out,
                              collet_error *err)
{
    double size = pow(fabs(a), b);
    if (a == 0.0 && b < 0.0)
        return refuse(COLLET_OP_POW, in, 2, BY_ZERO, err);
    if (isinf(size) && isfinite(a) && isfinite(b))
        return refuse(COLLET_OP_POW, in, 2, "is beyond f64", err);
    if (a < 0.0 && isfinite(a) && isfinite(b) && b != floor(b))
        *out = literal_of_complex(size * cos(acos(-1.0) * b), size * sin(acos(-1.0) * b));
    else
        *out = literal_of_real(pow(a, b));
    return COLLET_OK;
}

static collet_status fold_real(uint32_t op, double a, double b, const literal *in, literal *out,
                               collet_error *err)
{
    double rest;
    switch (op) {
    case COLLET_OP_ADD:
        *out = literal_of_real(a + b);
        return COLLET_OK;
    case COLLET_OP_SUB:
        *out = literal_of_real(a - b);
        return COLLET_OK;
    case COLLET_OP_MUL:
        *out = literal_of_real(a * b);
        return COLLET_OK;
    case COLLET_OP_NEG:
        *out = literal_of_real(-a);
        return COLLET_OK;
    case COLLET_OP_POW:
        return power_of(a, b, in, out, err);
    case COLLET_OP_DIV:
    case COLLET_OP_FLOOR_DIVIDE:
    case COLLET_OP_REMAINDER:
        if (b == 0.0)
            return refuse(op, in, 2, BY_ZERO, err);
        *out = literal_of_real(op == COLLET_OP_DIV ? a / b : floored(a, b, &rest));
        if (op == COLLET_OP_REMAINDER)
            *out = literal_of_real(rest);
        return COLLET_OK;
    default:
        return COLLET_UNSUPPORTED;
    }
}

static collet_status fold_complex(uint32_t op, const literal *in, uint32_t count, literal *out,
                                  collet_error *err)
{
    const literal *b = &in[count - 1];
    double re = real_of(&in[0]), im = in[0].im, re2 = real_of(b), im2 = b->im;
    switch (op) {
    case COLLET_OP_ADD:
        *out = literal_of_complex(re + re2, im + im2);
        return COLLET_OK;
    case COLLET_OP_SUB:
        *out = literal_of_complex(re - re2, im - im2);
        return COLLET_OK;
    case COLLET_OP_MUL:
        *out = literal_of_complex(re * re2 - im * im2, re * im2 + im * re2);
        return COLLET_OK;
    case COLLET_OP_NEG:
        *out = literal_of_complex(-re, -im);
        return COLLET_OK;
    case COLLET_OP_DIV:
        return re2 == 0.0 && im2 == 0.0 ? refuse(op, in, 2, BY_ZERO, err) : COLLET_UNSUPPORTED;
    default:
        return COLLET_UNSUPPORTED;
    }
}

/* ---- Comparisons ------------------------------------------------------------------------- */

int fold_compares(uint32_t op)
{
    return op >= COLLET_OP_EQUAL && op <= COLLET_OP_GREATER_EQUAL;
}

enum { UNORDERED = 2 };

/* Compares an integer with a real number without rounding either: -1, 0, 1 or UNORDERED. */
static int order_mixed(literal_integer a, double b)
{
    if (isnan(b))
        return UNORDERED;
    if (fabs(b) >= 0x1p127)
        return b > 0 ? -1 : 1;
    literal_integer below = (literal_integer)floor(b);
    return a > below ? 1 : a < below || b != floor(b) ? -1 : 0;
}

static int order(const literal *a, const literal *b)
{
    int mixed, whole = literal_is_whole(a), whole2 = literal_is_whole(b);
    if (whole && whole2)
        return (a->integer > b->integer) - (a->integer < b->integer);
    if (whole)
        return order_mixed(a->integer, b->re);
    if (whole2) {
        mixed = order_mixed(b->integer, a->re);
        return mixed == UNORDERED ? mixed : -mixed;
    }
    return isnan(a->re) || isnan(b->re) ? UNORDERED : (a->re > b->re) - (a->re < b->re);
}

static literal compared(uint32_t op, int order)
{
    switch (op) {
    case COLLET_OP_EQUAL:
        return literal_of_bool(order == 0);
    case COLLET_OP_NOT_EQUAL:
        return literal_of_bool(order != 0);
    case COLLET_OP_LESS:
        return literal_of_bool(order == -1);
    case COLLET_OP_LESS_EQUAL:
        return literal_of_bool(order == -1 || order == 0);
    case COLLET_OP_GREATER:
        return literal_of_bool(order == 1);
    default:
        return literal_of_bool(order == 1 || order == 0);
    }
}

/* ---- All --------------------------------------------------------------------------------- */

collet_dtype fold_result(uint32_t op, int integers, int *ranges)
{
    *ranges = 0;
    switch (op) {
    case COLLET_OP_ADD:
    case COLLET_OP_SUB:
    case COLLET_OP_MUL:
    case COLLET_OP_NEG:
    case COLLET_OP_ABS:
    case COLLET_OP_SQUARE:
    case COLLET_OP_SIGN:
        *ranges = 1;
        return COLLET_I64;
    case COLLET_OP_MAXIMUM:
    case COLLET_OP_MINIMUM:
    case COLLET_OP_CLIP:
    case COLLET_OP_BITWISE_INVERT:
        *ranges = 1;
        return integers ? COLLET_I64 : COLLET_DTYPE_NONE;
    case COLLET_OP_WHERE:
        *ranges = 1;
        return integers ? COLLET_I64 : COLLET_BOOL;
    case COLLET_OP_FLOOR_DIVIDE:
    case COLLET_OP_REMAINDER:
    case COLLET_OP_POW:
    case COLLET_OP_BITWISE_LEFT_SHIFT:
    case COLLET_OP_BITWISE_RIGHT_SHIFT:
        return COLLET_I64;
    case COLLET_OP_BITWISE_AND:
    case COLLET_OP_BITWISE_OR:
    case COLLET_OP_BITWISE_XOR:
        return integers ? COLLET_I64 : COLLET_BOOL;
    default:
        return fold_compares(op) ? COLLET_BOOL : COLLET_DTYPE_NONE;
    }
}

collet_status fold(uint32_t op, const literal *in, uint32_t count, literal *out, collet_error *err)
{
    int whole = 1, integers = 0, complex = 0, ranges;
    for (uint32_t i = op == COLLET_OP_WHERE; i < count; i++) {
        whole &= literal_is_whole(&in[i]);
        integers |= in[i].dtype == COLLET_I64;
        complex |= in[i].dtype == COLLET_C128;
    }
    if (fold_compares(op) && !complex) {
        *out = compared(op, order(&in[0], &in[1]));
        return COLLET_OK;
    }
    collet_dtype dtype = whole ? fold_result(op, integers, &ranges) : COLLET_DTYPE_NONE;
    if (op == COLLET_OP_WHERE) /* the condition may be any number */
        whole &= literal_is_whole(&in[0]);
    if (whole && dtype)
        return fold_integers(op, dtype, in, count, out, err);
    if (whole && op == COLLET_OP_DIV && in[1].integer) {
        *out = literal_of_real(divided(in[0].integer, in[1].integer));
        return COLLET_OK;
    }
    if (count > 2)
        return COLLET_UNSUPPORTED;
    return complex ? fold_complex(op, in, count, out, err)
                   : fold_real(op, real_of(&in[0]), real_of(&in[count - 1]), in, out, err);
}
