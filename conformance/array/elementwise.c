/* SPDX-License-Identifier: Apache-2.0 */
/* array: the elementwise functions. The results of exact functions have the bits that truth.h computes. The results
 * of other functions differ from the values of truth.h by at most the limit in elementwise.def. Besides ordinary
 * cases, each row has a case with the stored arguments and values of conformance/vectors, a case with every value of
 * a dtype of 8 or 16 bits, and a case with arguments at which identities hold.
 * Tests: tests/conformance/test_truth.c, tests/conformance/defects.sh, python/tests/op/test_elementwise.py */
#include "array.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "elementwise_judge.h"
#include "vectors.h"

/* ---- Inputs ---------------------------------------------------------------------------------- */

/* e, where 2^-e is the smallest normal number of the dtype. */
static int exponents_of(collet_dtype part)
{
    return part == COLLET_F64 ? 1022 : part == COLLET_F16 ? 14 : 126;
}

/* An argument near which an exponential leaves the range of a dtype, or a multiple of pi / 2, where a periodic
 * function is zero. */
static long double turning_point(kit_rng *rng)
{
    static const double ends[] = {9.7,   11.09,  17.3,  87.3, 88.7, 103.9,
                                  708.4, 709.78, 745.1, 4,    9,    19};
    if (kit_next(rng) & 1)
        return (long double)floor(exp2(kit_uniform(rng, 0, 40))) * 1.57079632679489661923L;
    return (long double)ends[kit_below(rng, sizeof ends / sizeof *ends)] +
           (long double)kit_uniform(rng, -0.3, 0.3);
}

/* A number near which some functions are hard to compute. */
static long double edge(collet_dtype part, kit_rng *rng)
{
    long double sign = kit_next(rng) & 1 ? 1 : -1;
    switch (kit_below(rng, 4)) {
    case 0:
        return sign * turning_point(rng);
    case 1: /* near 1, or another small integer */
        return sign * ((long double)(kit_next(rng) & 1 ? 1 : 1 + kit_below(rng, 24)) +
                       ldexpl((long double)kit_uniform(rng, -1, 1), -(int)kit_below(rng, 50)));
    case 2: /* small */
        return ldexpl((long double)kit_normal(rng), -(int)kit_below(rng, exponents_of(part)));
    default: /* large */
        return ldexpl((long double)kit_normal(rng), (int)kit_below(rng, exponents_of(part)));
    }
}

void kit_domain(uint32_t op, double *from, double *to)
{
    switch (op) {
#define COLLET_ELEMENTWISE(NAME, id, name, inputs, result, kinds, ulp, derivative, least, most,    \
                           ...)                                                                    \
    case COLLET_OP_##NAME:                                                                         \
        *from = least;                                                                             \
        *to = most;                                                                                \
        break;
#include <collet/ops/elementwise.def>
    default:
        break;
    }
}

static void generate_domain(uint32_t op, kit_tensor *t, kit_rng *rng)
{
    double from = 0, to = 0;
    kit_domain(op, &from, &to);
    for (int64_t i = 0; i < kit_parts(t); i++)
        kit_set(t, i, (long double)kit_uniform(rng, from, to));
}

/* ---- Identities ------------------------------------------------------------------------------ */

/* Identities that hold bit by bit: f(-x) = -f(x), f(-x) = f(x), f(conj z) = conj f(z), f(a, b) = f(b, a). */
typedef enum identity { NONE, ODD, EVEN, CONJUGATE, SYMMETRIC } identity;

static const struct {
    uint32_t op;
    identity real, complex;
} identities[] = {
    {COLLET_OP_SIN, ODD, CONJUGATE},
    {COLLET_OP_COS, EVEN, CONJUGATE},
    {COLLET_OP_TAN, ODD, CONJUGATE},
    {COLLET_OP_ASIN, ODD, CONJUGATE},
    {COLLET_OP_ACOS, NONE, CONJUGATE},
    {COLLET_OP_ATAN, ODD, CONJUGATE},
    {COLLET_OP_SINH, ODD, CONJUGATE},
    {COLLET_OP_COSH, EVEN, CONJUGATE},
    {COLLET_OP_TANH, ODD, CONJUGATE},
    {COLLET_OP_ASINH, ODD, CONJUGATE},
    {COLLET_OP_ACOSH, NONE, CONJUGATE},
    {COLLET_OP_ATANH, ODD, CONJUGATE},
    {COLLET_OP_EXP, NONE, CONJUGATE},
    {COLLET_OP_EXPM1, NONE, CONJUGATE},
    {COLLET_OP_LOG, NONE, CONJUGATE},
    {COLLET_OP_LOG1P, NONE, CONJUGATE},
    {COLLET_OP_LOG2, NONE, CONJUGATE},
    {COLLET_OP_LOG10, NONE, CONJUGATE},
    {COLLET_OP_SQRT, NONE, CONJUGATE},
    {COLLET_OP_RECIPROCAL, NONE, CONJUGATE},
    {COLLET_OP_CBRT, ODD, NONE},
    {COLLET_OP_ERF, ODD, NONE},
    {COLLET_OP_TRUNC, ODD, NONE},
    {COLLET_OP_SINC, EVEN, NONE},
    {COLLET_OP_ADD, SYMMETRIC, SYMMETRIC},
    {COLLET_OP_MUL, SYMMETRIC, SYMMETRIC},
    {COLLET_OP_EQUAL, SYMMETRIC, SYMMETRIC},
    {COLLET_OP_NOT_EQUAL, SYMMETRIC, SYMMETRIC},
    {COLLET_OP_MINIMUM, SYMMETRIC, NONE},
    {COLLET_OP_MAXIMUM, SYMMETRIC, NONE},
    {COLLET_OP_LOGICAL_AND, SYMMETRIC, NONE},
    {COLLET_OP_LOGICAL_OR, SYMMETRIC, NONE},
    {COLLET_OP_LOGICAL_XOR, SYMMETRIC, NONE},
    {COLLET_OP_BITWISE_AND, SYMMETRIC, NONE},
    {COLLET_OP_BITWISE_OR, SYMMETRIC, NONE},
    {COLLET_OP_BITWISE_XOR, SYMMETRIC, NONE},
};

static identity identity_of(uint32_t op, collet_dtype dtype)
{
    for (size_t i = 0; i < sizeof identities / sizeof *identities; i++)
        if (identities[i].op == op)
            return kit_part(dtype) != dtype ? identities[i].complex : identities[i].real;
    return NONE;
}

/* Derives the second half of the inputs from the first half by the identity. */
static void mirror(kit_case *c)
{
    identity rule = identity_of(c->row->info.id, c->operand[1].dtype);
    int64_t half = kit_parts(&c->operand[1]) / 2;
    for (int64_t i = 0; i < half; i++) {
        long double a = kit_get(&c->operand[1], i);
        if (rule == SYMMETRIC) {
            kit_set(&c->operand[1], half + i, kit_get(&c->operand[2], i));
            kit_set(&c->operand[2], half + i, a);
        } else
            kit_set(&c->operand[1], half + i, rule == CONJUGATE && i % 2 == 0 ? a : -a);
    }
}

static void judge_identity(const kit_case *c, kit_verdict *v)
{
    const kit_tensor *out = &c->operand[0];
    identity rule = identity_of(c->row->info.id, c->operand[1].dtype);
    int64_t half = kit_parts(out) / 2;
    unsigned char ideal[8];
    for (int64_t i = 0; i < half && !v->failed; i++) {
        long double y = kit_get(out, i);
        bool opposite = rule == ODD || (rule == CONJUGATE && i % 2 == 1);
        kit_convert(kit_part(out->dtype), opposite ? -y : y, ideal);
        if (memcmp(kit_at(out, half + i), ideal, collet_dtype_size(kit_part(out->dtype))) &&
            !isnan(y))
            kit_fail(v, "element %" PRIi64 " and %" PRIi64 " later: %s does not hold", i, half,
                     rule == ODD         ? "f(-x) = -f(x)"
                     : rule == EVEN      ? "f(-x) = f(x)"
                     : rule == CONJUGATE ? "f(conj z) = conj f(z)"
                                         : "f(a, b) = f(b, a)");
    }
}

/* ---- Plans ----------------------------------------------------------------------------------- */

/* The number of elements that hold all values of a dtype of 8 or 16 bits (all bytes for a bool), or all pairs of values
 * if there are several inputs of 8 bits; 0 for wider dtypes. */
static int64_t values_of(collet_dtype dtype, uint32_t inputs)
{
    size_t size = collet_dtype_size(dtype);
    return size > 2 ? 0 : size == 2 || inputs > 1 ? 65536 : 256;
}

/* 8 bits: input k < 2 of element i has byte k of i. 16 bits: input 0 has both bytes. All other inputs are random. */
static void every_value(kit_case *c, kit_rng *rng)
{
    for (uint32_t k = 0; k < c->row->info.n_in; k++) {
        kit_tensor *t = &c->operand[1 + k];
        size_t size = collet_dtype_size(t->dtype);
        kit_random_bits(t, rng);
        for (int64_t i = 0; i < t->count && k < 2 / size; i++) {
            uint16_t bits = (uint16_t)(i >> 8 * k);
            memcpy(t->data + (size_t)i * size, &bits, size);
        }
    }
}

static void plan_kind(kit_plan *plan, int kind, const char *name, int64_t count)
{
    kit_case c = kit_case_of(plan);
    c.kind = kind;
    c.data = name;
    c.in_sample = kind == STORED;
    for (uint32_t k = 0; k < plan->row->operands; k++)
        kit_shape(&c, k, 1, &count);
    if (count > 0)
        kit_emit(plan, &c);
}

static void plan_functions(kit_plan *plan)
{
    const kit_row *row = plan->row;
    collet_dtype last = row->dtypes[row->operands - 1];
    kit_plan_elementwise(plan);
    plan_kind(plan, STORED, "stored values", vectors_count(row->info.id, last));
    plan_kind(plan, EVERY, "every value", values_of(last, row->info.n_in));
    if (identity_of(row->info.id, last) != NONE)
        plan_kind(plan, MIRRORED, "identities", 2000);
}

static void generate(kit_case *c, kit_rng *rng)
{
    uint32_t op = c->row->info.id;
    if (c->kind == STORED)
        vectors_inputs(c);
    if (c->kind == EVERY)
        every_value(c, rng);
    if (c->kind == STORED || c->kind == EVERY)
        return;
    kit_generate_any(c, rng);
    for (uint32_t k = 1; k < c->row->operands; k++) {
        kit_tensor *t = &c->operand[k];
        if (t->dtype == COLLET_BOOL)
            kit_random_bits(t, rng);
        else if ((c->kind == ORDINARY || c->kind == MIRRORED) && kit_next(rng) & 3)
            generate_domain(op, t, rng);
        for (int64_t i = 0; i < kit_parts(t) && c->kind == EDGES && t->dtype != COLLET_BOOL; i++)
            if (kit_is_real_float(kit_part(t->dtype)) && kit_next(rng) & 1)
                kit_set(t, i, edge(kit_part(t->dtype), rng));
    }
    if (c->kind == MIRRORED)
        mirror(c);
}

/* ---- Judging --------------------------------------------------------------------------------- */

static void judge(const kit_case *c, kit_verdict *v)
{
    elementwise_judge(c, v);
    if (c->kind == MIRRORED && !v->failed)
        judge_identity(c, v);
}

#define COLLET_ELEMENTWISE(NAME, ...) {COLLET_OP_##NAME, plan_functions, generate, judge},
const kit_op kit_array_elementwise_ops[] = {
#include <collet/ops/elementwise.def>
    {0},
};
