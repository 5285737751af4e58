/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_expression.c */
#include "power.h"

#include <collet/ops.h>

#define LARGEST 16

typedef struct list {
    power_step *steps;
    uint32_t count;
} list;

static uint32_t add(list *l, uint32_t op, uint32_t inputs, uint32_t a, uint32_t b)
{
    l->steps[l->count++] = (power_step){op, inputs, {a, b}};
    return l->count;
}

/* Adds the steps of x^(n / 2). */
static void multiply(list *l, uint32_t x, uint32_t n)
{
    uint32_t result = 0;
    int begun = (n & 1) != 0;
    if (begun)
        result = add(l, COLLET_OP_SQRT, 1, x, 0);
    for (n /= 2; n; n /= 2) {
        if (n & 1)
            result = begun ? add(l, COLLET_OP_MUL, 2, result, x) : x;
        begun |= (n & 1) != 0;
        if (n > 1)
            x = add(l, COLLET_OP_SQUARE, 1, x, 0);
    }
}

static double number(const literal *s)
{
    return s->dtype == COLLET_I64 ? (double)s->integer : s->dtype == COLLET_F64 ? s->re : 0.0;
}

uint32_t power_steps(power_step steps[POWER_STEPS], const literal *exponent, collet_dtype dtype)
{
    double twice = 2.0 * number(exponent);
    int half = dtype == COLLET_F16 || dtype == COLLET_BF16;
    int floating = half || dtype == COLLET_F32 || dtype == COLLET_F64 || dtype == COLLET_C64 ||
                   dtype == COLLET_C128;
    list l = {steps, 0};
    if (!(twice >= -2 * LARGEST && twice <= 2 * LARGEST) || twice != (int)twice)
        return 0;
    /* For f16 and bf16 pow rounds only once. For integers, pow defines negative exponents. */
    if ((half && twice != 1 && twice != 4 && twice != -2) || (!floating && twice < 0) ||
        dtype == COLLET_BOOL)
        return 0;
    /* A negative power is a power of 1/x: x^n could overflow or underflow where the result does not.
     * x^-1/2 is 1 / sqrt(x) instead, since sqrt(1/x) is wrong if 1/x overflows. */
    if (twice == -1)
        add(&l, COLLET_OP_RECIPROCAL, 1, add(&l, COLLET_OP_SQRT, 1, 0, 0), 0);
    else if (twice < 0)
        add(&l, COLLET_OP_RECIPROCAL, 1, 0, 0);
    if (twice > 0 || twice < -2)
        multiply(&l, l.count, (uint32_t)(twice > 0 ? twice : -twice));
    return l.count;
}
