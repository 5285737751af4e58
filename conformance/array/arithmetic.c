/* SPDX-License-Identifier: Apache-2.0 */
/*
 * array: real and complex arithmetic, bit-exact as IEEE 754, except for complex quotients and
 * magnitudes.
 * Tests: tests/conformance/test_broken.c
 */
#include "array.h"

#include <complex.h>
#include <math.h>
#include <string.h>

/* ---- Real numbers -------------------------------------------------------------------------- */

/* C arithmetic follows IEEE 754; volatile prevents contraction and excess precision. */
static double arithmetic64(uint32_t op, volatile double a, volatile double b)
{
    volatile double result = op == COLLET_OP_ADD   ? a + b
                             : op == COLLET_OP_SUB ? a - b
                             : op == COLLET_OP_MUL ? a * b
                                                   : a / b;
    return result;
}

/*
 * The same in the type in which `part` is computed: f64 for f64, else f32. The double sum, product
 * or quotient of floats, rounded to float, is correctly rounded.
 */
static double arithmetic(collet_dtype part, uint32_t op, double a, double b)
{
    double result = arithmetic64(op, a, b);
    return part == COLLET_F64 ? result : (double)(float)result;
}

/* Checks that part i of output 0 is `ideal`, rounded to its type. */
static void same_value(const kit_case *c, kit_verdict *v, int64_t i, double ideal)
{
    unsigned char bytes[16];
    kit_convert(kit_part(c->operand[0].dtype), (long double)ideal, bytes);
    kit_same(c, v, 0, i, bytes, false);
}

static double input(const kit_case *c, uint32_t k, int64_t i)
{
    return (double)kit_get(kit_in(c, k), kit_source(c, k, i));
}

static void judge_real(const kit_case *c, kit_verdict *v)
{
    const kit_tensor *out = &c->operand[0];
    for (int64_t i = 0; i < out->count; i++) {
        double ideal = arithmetic(out->dtype, c->row->info.id, input(c, 0, i), input(c, 1, i));
        same_value(c, v, i, ideal);
    }
}

/* ---- Complex numbers ----------------------------------------------------------------------- */

typedef struct pair {
    double re, im;
} pair;

static pair input_pair(const kit_case *c, uint32_t k, int64_t i)
{
    int64_t at = 2 * kit_source(c, k, i);
    return (pair){(double)kit_get(kit_in(c, k), at), (double)kit_get(kit_in(c, k), at + 1)};
}

static pair product(collet_dtype part, pair a, pair b)
{
    double ac = arithmetic(part, COLLET_OP_MUL, a.re, b.re);
    double bd = arithmetic(part, COLLET_OP_MUL, a.im, b.im);
    double ad = arithmetic(part, COLLET_OP_MUL, a.re, b.im);
    double bc = arithmetic(part, COLLET_OP_MUL, a.im, b.re);
    return (pair){arithmetic(part, COLLET_OP_SUB, ac, bd), arithmetic(part, COLLET_OP_ADD, ad, bc)};
}

/* Checks a part of a quotient: the error may be the limit of the whole quotient, or the smallest
 * positive number. */
static void near_quotient(const kit_case *c, kit_verdict *v, int64_t i, long double ideal,
                          long double size)
{
    collet_dtype dtype = c->operand[0].dtype;
    const kit_limit *limit = kit_limit_find(COLLET_OP_DIV, dtype, "quotient");
    long double top = dtype == COLLET_C64 ? 0x1p128L : 0x1p1024L;
    long double smallest = kit_ulp(kit_part(dtype), 0) / (long double)limit->limit;
    /* This close to the largest number, infinity is within the limit, too. The limit is relative to
     * the whole quotient, which may be far larger than this part. */
    long double margin = fmaxl(top * 0x1p-20L, size * (long double)limit->limit);
    if (isfinite(ideal) && fabsl(fabsl(ideal) - top) <= margin)
        return;
    if (isfinite(ideal) && fabsl(ideal) >= top)
        ideal = copysignl((long double)INFINITY, ideal);
    kit_near(c, v, 0, i, ideal, size > smallest ? size : smallest, limit);
}

static long double sign_if_infinite(double x)
{
    return copysignl(isinf(x) ? 1 : 0, (long double)x);
}

/* If b is 0 or an operand is not finite: as docs/KERNELS.md defines it. Else the compiler's
 * quotient in long double, whose range is large enough. */
static long double _Complex quotient(pair a, pair b)
{
    const long double infinity = (long double)INFINITY;
    long double re = (long double)a.re, im = (long double)a.im;
    bool a_finite = isfinite(a.re) && isfinite(a.im), b_finite = isfinite(b.re) && isfinite(b.im);
    long double c = (long double)b.re, d = (long double)b.im;
    if (c == 0 && d == 0)
        return __builtin_complex(re * copysignl(infinity, c), im * copysignl(infinity, c));
    if (a_finite && b_finite)
        return __builtin_complex(re, im) / __builtin_complex(c, d);
    if (b_finite && (isinf(a.re) || isinf(a.im))) {
        re = sign_if_infinite(a.re);
        im = sign_if_infinite(a.im);
        return __builtin_complex(infinity * (re * c + im * d), infinity * (im * c - re * d));
    }
    if (a_finite && (isinf(b.re) || isinf(b.im)))
        return __builtin_complex(0.0L, 0.0L);
    return __builtin_complex((long double)NAN, (long double)NAN);
}

static void judge_quotient(const kit_case *c, kit_verdict *v)
{
    for (int64_t i = 0; i < c->operand[0].count; i++) {
        long double _Complex q = quotient(input_pair(c, 0, i), input_pair(c, 1, i));
        long double size = cabsl(q);
        near_quotient(c, v, 2 * i, creall(q), size);
        near_quotient(c, v, 2 * i + 1, cimagl(q), size);
    }
}

static void judge_complex(const kit_case *c, kit_verdict *v)
{
    collet_dtype part = kit_part(c->operand[0].dtype);
    uint32_t op = c->row->info.id;
    for (int64_t i = 0; i < c->operand[0].count; i++) {
        pair a = input_pair(c, 0, i), b = input_pair(c, 1, i);
        pair ideal = {arithmetic(part, op, a.re, b.re), arithmetic(part, op, a.im, b.im)};
        if (op == COLLET_OP_MUL)
            ideal = product(part, a, b);
        same_value(c, v, 2 * i, ideal.re);
        same_value(c, v, 2 * i + 1, ideal.im);
    }
}

static bool is_complex(const kit_tensor *t)
{
    return kit_part(t->dtype) != t->dtype;
}

static void judge_arithmetic(const kit_case *c, kit_verdict *v)
{
    if (!is_complex(&c->operand[0]))
        judge_real(c, v);
    else if (c->row->info.id == COLLET_OP_DIV)
        judge_quotient(c, v);
    else
        judge_complex(c, v);
}

/* ---- Signs --------------------------------------------------------------------------------- */

static void judge_neg(const kit_case *c, kit_verdict *v)
{
    for (int64_t i = 0; i < c->operand[0].count; i++)
        same_value(c, v, i, -input(c, 0, i));
}

static void judge_abs(const kit_case *c, kit_verdict *v)
{
    const kit_limit *limit = kit_limit_find(COLLET_OP_ABS, c->operand[0].dtype, "magnitude");
    for (int64_t i = 0; i < c->operand[0].count; i++) {
        if (is_complex(kit_in(c, 0))) {
            pair a = input_pair(c, 0, i);
            kit_within_ulp(c, v, 0, i, hypotl((long double)a.re, (long double)a.im), limit);
        } else {
            same_value(c, v, i, fabs(input(c, 0, i)));
        }
    }
}

static void judge_conj(const kit_case *c, kit_verdict *v)
{
    for (int64_t i = 0; i < c->operand[0].count; i++) {
        pair a = input_pair(c, 0, i);
        same_value(c, v, 2 * i, a.re);
        same_value(c, v, 2 * i + 1, -a.im);
    }
}

/* ---- axpy ---------------------------------------------------------------------------------- */

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

/* The first result is alpha, including the sign of a zero; the others are ordinary. */
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
        double scaled = arithmetic(dtype, COLLET_OP_MUL, alpha, input(c, 0, i));
        same_value(c, v, i, arithmetic(dtype, COLLET_OP_ADD, scaled, input(c, 1, i)));
    }
}

const kit_op kit_array_arithmetic_ops[] = {
    {COLLET_OP_ADD, kit_plan_elementwise, kit_generate_any, judge_arithmetic},
    {COLLET_OP_SUB, kit_plan_elementwise, kit_generate_any, judge_arithmetic},
    {COLLET_OP_MUL, kit_plan_elementwise, kit_generate_any, judge_arithmetic},
    {COLLET_OP_DIV, kit_plan_elementwise, kit_generate_any, judge_arithmetic},
    {COLLET_OP_NEG, kit_plan_elementwise, kit_generate_any, judge_neg},
    {COLLET_OP_ABS, kit_plan_elementwise, kit_generate_any, judge_abs},
    {COLLET_OP_CONJ, kit_plan_elementwise, kit_generate_any, judge_conj},
    {COLLET_OP_AXPY, plan_axpy, generate_axpy, judge_axpy},
    {0},
};
