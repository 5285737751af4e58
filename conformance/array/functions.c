/* SPDX-License-Identifier: Apache-2.0 */
/* array: elementary functions, at ordinary arguments and at the limits of their ranges.
 * Tests: tests/conformance/test_broken.c */
#include "array.h"

#include <math.h>

/* Range of a floating type, as arguments of exp. */
typedef struct range {
    int exponents;              /* the smallest normal number is 2^-exponents */
    double lowest, highest;     /* exp is a normal number between them */
    double underflow, overflow; /* ... 0 below, infinite above */
} range;

static range range_of(collet_dtype dtype)
{
    if (dtype == COLLET_F64)
        return (range){1022, -700, 709, -746, 709.9};
    if (dtype == COLLET_F16)
        return (range){14, -9.7, 11, -17.5, 11.2};
    return (range){126, -87, 88, -104.5, 88.8};
}

/* Small numbers of either sign, down to the smallest. */
static double tiny(const range *r, kit_rng *rng)
{
    return ldexp(kit_normal(rng), -(int)kit_below(rng, r->exponents));
}

/* Arguments with a finite nonzero exponential; or around underflow and overflow. */
static void generate_exp(kit_case *c, kit_rng *rng)
{
    kit_tensor *t = &c->operand[1];
    range r = range_of(t->dtype);
    kit_generate_any(c, rng);
    for (int64_t i = 0; i < t->count; i++) {
        if (c->kind == ORDINARY)
            kit_set(t, i, kit_uniform(rng, r.lowest, r.highest));
        else if (c->kind == EDGES && kit_next(rng) & 1)
            kit_set(t, i, kit_uniform(rng, r.overflow - 0.3, r.overflow));
        else if (c->kind == EDGES && kit_next(rng) & 1)
            kit_set(t, i, kit_uniform(rng, r.underflow, r.lowest));
        else if (c->kind == EDGES)
            kit_set(t, i, tiny(&r, rng));
    }
}

/* All magnitudes; or near 1, where the logarithm is small. */
static void generate_log(kit_case *c, kit_rng *rng)
{
    kit_tensor *t = &c->operand[1];
    int exponents = range_of(t->dtype).exponents;
    kit_generate_any(c, rng);
    for (int64_t i = 0; i < t->count; i++) {
        if (c->kind == ORDINARY)
            kit_set(t, i, exp2(kit_uniform(rng, -exponents, exponents)));
        else if (c->kind == BITS)
            kit_set(t, i, fabsl(kit_get(t, i)));
        else if (c->kind == EDGES)
            kit_set(t, i, 1 + ldexp(kit_uniform(rng, -1, 1), -(int)kit_below(rng, 50)));
    }
}

static void generate_sqrt(kit_case *c, kit_rng *rng)
{
    kit_tensor *t = &c->operand[1];
    kit_generate_any(c, rng);
    for (int64_t i = 0; i < t->count && (c->kind == BITS || c->kind == ORDINARY); i++)
        kit_set(t, i, fabsl(kit_get(t, i)));
}

/* A few periods; or near multiples of pi / 2 of every magnitude, and far from 0. */
static void generate_periodic(kit_case *c, kit_rng *rng)
{
    kit_tensor *t = &c->operand[1];
    range r = range_of(t->dtype);
    kit_generate_any(c, rng);
    for (int64_t i = 0; i < t->count; i++) {
        double turns = floor(exp2(kit_uniform(rng, 0, t->dtype == COLLET_F64 ? 40 : 30)));
        if (c->kind == ORDINARY)
            kit_set(t, i, kit_uniform(rng, -20, 20));
        else if (c->kind == EDGES && kit_next(rng) & 1)
            kit_set(t, i, (long double)turns * 1.57079632679489661923L);
        else if (c->kind == EDGES && kit_next(rng) & 1)
            kit_set(t, i, kit_normal(rng) * exp2(kit_uniform(rng, 0, r.exponents)));
        else if (c->kind == EDGES)
            kit_set(t, i, tiny(&r, rng));
    }
}

/* The curved range of tanh; or where it equals its argument, or 1. */
static void generate_tanh(kit_case *c, kit_rng *rng)
{
    kit_tensor *t = &c->operand[1];
    range r = range_of(t->dtype);
    kit_generate_any(c, rng);
    for (int64_t i = 0; i < t->count; i++) {
        if (c->kind == ORDINARY)
            kit_set(t, i, kit_uniform(rng, -4, 4));
        else if (c->kind == EDGES && kit_next(rng) & 1)
            kit_set(t, i, kit_uniform(rng, 4, t->dtype == COLLET_F64 ? 21 : 11));
        else if (c->kind == EDGES)
            kit_set(t, i, tiny(&r, rng));
    }
}

/* ---- The oracle ---------------------------------------------------------------------------- */

static void judge_sqrt(const kit_case *c, kit_verdict *v)
{
    const kit_tensor *out = &c->operand[0];
    for (int64_t i = 0; i < out->count; i++) {
        unsigned char bytes[16];
        double ideal = sqrt((double)kit_get(kit_in(c, 0), kit_source(c, 0, i)));
        /* The double root of a float, rounded to float, is correctly rounded. */
        if (out->dtype != COLLET_F64)
            ideal = (double)(float)ideal;
        kit_convert(out->dtype, (long double)ideal, bytes);
        kit_same(c, v, 0, i, bytes, false);
    }
}

long double kit_function(uint32_t op, long double x)
{
    switch (op) {
    case COLLET_OP_EXP:
        return expl(x);
    case COLLET_OP_LOG:
        return logl(x);
    case COLLET_OP_SQRT:
        return sqrtl(x);
    case COLLET_OP_SIN:
        return sinl(x);
    case COLLET_OP_COS:
        return cosl(x);
    default:
        return tanhl(x);
    }
}

static void judge_function(const kit_case *c, kit_verdict *v)
{
    const kit_tensor *out = &c->operand[0];
    const kit_limit *limit = kit_limit_find(c->row->info.id, out->dtype, "value");
    for (int64_t i = 0; i < out->count; i++) {
        long double x = kit_get(kit_in(c, 0), kit_source(c, 0, i));
        kit_within_ulp(c, v, 0, i, kit_function(c->row->info.id, x), limit);
    }
}

const kit_op kit_array_function_ops[] = {
    {COLLET_OP_EXP, kit_plan_elementwise, generate_exp, judge_function},
    {COLLET_OP_LOG, kit_plan_elementwise, generate_log, judge_function},
    {COLLET_OP_SQRT, kit_plan_elementwise, generate_sqrt, judge_sqrt},
    {COLLET_OP_SIN, kit_plan_elementwise, generate_periodic, judge_function},
    {COLLET_OP_COS, kit_plan_elementwise, generate_periodic, judge_function},
    {COLLET_OP_TANH, kit_plan_elementwise, generate_tanh, judge_function},
    {0},
};
