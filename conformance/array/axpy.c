/* SPDX-License-Identifier: Apache-2.0 */
/* array: axpy.
 * Tests: tests/conformance/test_broken.c */
#include "array.h"

#include <string.h>

/* C arithmetic follows IEEE 754; volatile prevents contraction. A product or sum of two floats that
 * is computed in double and then rounded to float is correctly rounded. */
static double rounded(collet_dtype dtype, volatile double x)
{
    return dtype == COLLET_F64 ? x : (double)(float)x;
}

static double input(const kit_case *c, uint32_t k, int64_t i)
{
    return (double)kit_get(kit_in(c, k), kit_source(c, k, i));
}

static collet_scalar *axpy_scalar(kit_case *c)
{
    c->params.axpy.struct_size = sizeof c->params.axpy;
    return &c->params.axpy.alpha;
}

static void plan_axpy(kit_plan *plan)
{
    kit_plan_elementwise(plan);
    kit_plan_scalars(plan, axpy_scalar);
}

/* The first result is alpha, including the sign of a zero. All other elements are ordinary. */
static void show_alpha(kit_case *c)
{
    kit_set(&c->operand[1], 0, 1);
    kit_set(&c->operand[2], 0, -0.0L);
}

static void generate_axpy(kit_case *c, kit_rng *rng)
{
    if (c->kind == SCALAR) {
        kit_generate_any(c, rng);
        show_alpha(c);
        return;
    }
    collet_axpy_params *p = &c->params.axpy;
    collet_dtype given = c->operand[0].dtype;
    for (int tries = 0; tries < 4 && kit_next(rng) & 1; tries++) {
        collet_dtype other = 1 + (collet_dtype)kit_below(rng, COLLET_DTYPE_COUNT - 1);
        given = kit_part(other) == other ? other : given;
    }
    memset(p, 0, sizeof *p);
    p->struct_size = sizeof *p;
    p->alpha.dtype = given;
    kit_tensor alpha = {.dtype = given, .count = 1, .data = p->alpha.value.bytes};
    kit_ordinary(&alpha, rng, 12);
    if (c->kind == SPECIAL)
        kit_sprinkle_specials(&alpha, rng);
    kit_generate_any(c, rng);
}

static void judge_axpy(const kit_case *c, kit_verdict *v)
{
    const collet_scalar *given = &c->params.axpy.alpha;
    collet_dtype dtype = c->operand[0].dtype;
    unsigned char converted[16];
    kit_convert(dtype, kit_value(given->dtype, given->value.bytes), converted);
    double alpha = (double)kit_value(dtype, converted);
    for (int64_t i = 0; i < c->operand[0].count; i++) {
        double scaled = rounded(dtype, alpha * input(c, 0, i));
        kit_convert(dtype, (long double)rounded(dtype, scaled + input(c, 1, i)), converted);
        kit_same(c, v, 0, i, converted, false);
    }
}

const kit_op kit_array_axpy_ops[] = {
    {COLLET_OP_AXPY, plan_axpy, generate_axpy, judge_axpy},
    {0},
};
