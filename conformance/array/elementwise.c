/* SPDX-License-Identifier: Apache-2.0 */
/*
 * array: the elementwise functions. Exact ones have the bits of their formula; others are within the
 * limit of elementwise.def of its value in long double.
 * Tests: tests/conformance/test_broken.c, python/tests/op/test_elementwise.py
 */
#include "array.h"

#include <complex.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "elementwise_truth.h"

/* ---- Inputs ---------------------------------------------------------------------------------- */

/* The exponent of the smallest normal number. */
static int exponents_of(collet_dtype part)
{
    return part == COLLET_F64 ? 1022 : part == COLLET_F16 ? 14 : 126;
}

/* Where exponentials leave a range, and multiples of pi / 2, at which periodic functions are 0. */
static long double turning_point(kit_rng *rng)
{
    static const double ends[] = {9.7,   11.09,  17.3,  87.3, 88.7, 103.9,
                                  708.4, 709.78, 745.1, 4,    9,    19};
    if (kit_next(rng) & 1)
        return (long double)floor(exp2(kit_uniform(rng, 0, 40))) * 1.57079632679489661923L;
    return (long double)ends[kit_below(rng, sizeof ends / sizeof *ends)] +
           (long double)kit_uniform(rng, -0.3, 0.3);
}

/* A number at which some function has an edge. */
static long double edge(collet_dtype part, kit_rng *rng)
{
    long double sign = kit_next(rng) & 1 ? 1 : -1;
    switch (kit_below(rng, 4)) {
    case 0:
        return sign * turning_point(rng);
    case 1: /* near 1 */
        return sign * (1 + ldexpl((long double)kit_uniform(rng, -1, 1), -(int)kit_below(rng, 50)));
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

static void generate(kit_case *c, kit_rng *rng)
{
    uint32_t op = c->row->info.id;
    kit_generate_any(c, rng);
    for (uint32_t k = 1; k < c->row->operands; k++) {
        kit_tensor *t = &c->operand[k];
        if (t->dtype == COLLET_BOOL)
            kit_random_bits(t, rng);
        else if (c->kind == ORDINARY && kit_next(rng) & 3)
            generate_domain(op, t, rng);
        for (int64_t i = 0; i < kit_parts(t) && c->kind == EDGES && t->dtype != COLLET_BOOL; i++)
            if (kit_is_real_float(kit_part(t->dtype)) && kit_next(rng) & 1)
                kit_set(t, i, edge(kit_part(t->dtype), rng));
    }
}

/* ---- Real results, and exact complex ones ------------------------------------------------------ */

static collet_dtype dtype_of(const kit_case *c)
{
    return kit_in(c, c->row->info.n_in - 1)->dtype;
}

static void judge_exact(const kit_case *c, kit_verdict *v)
{
    const kit_tensor *out = &c->operand[0];
    collet_dtype part = kit_part(out->dtype);
    size_t size = collet_dtype_size(part);
    int64_t parts = part == out->dtype ? 1 : 2;
    unsigned char ideal[16];
    for (int64_t i = 0; i < out->count; i++) {
        char *at[4] = {(char *)ideal};
        for (uint32_t k = 0; k < c->row->info.n_in; k++) {
            const kit_tensor *in = kit_in(c, k);
            int64_t from = kit_source(c, k, i) * (kit_part(in->dtype) == in->dtype ? 1 : 2);
            at[k + 1] = (char *)(uintptr_t)kit_at(in, from);
        }
        truth_in_dtype(c->row->info.id, dtype_of(c), at);
        for (int64_t p = 0; p < parts; p++)
            kit_same(c, v, 0, i * parts + p, ideal + (size_t)p * size, false);
    }
}

long double kit_function(uint32_t op, long double x)
{
    return truth_in_long_double(op, (const long double[3]){x, 0, 0});
}

/* The limit of functions that subtract is in ulp of what they subtract. */
static long double ulp_at(uint32_t op, collet_dtype dtype, long double y, const long double x[3])
{
    long double size = fabsl(y);
    if (op == COLLET_OP_LOGADDEXP)
        size = fmaxl(size, fmaxl(fabsl(x[0]), fabsl(x[1])));
    return kit_ulp(dtype, op == COLLET_OP_LGAMMA ? fmaxl(size, 1) : size);
}

static void judge_near(const kit_case *c, kit_verdict *v, const kit_limit *limit)
{
    uint32_t op = c->row->info.id;
    collet_dtype dtype = c->operand[0].dtype;
    for (int64_t i = 0; i < c->operand[0].count; i++) {
        long double x[3] = {0};
        for (uint32_t k = 0; k < c->row->info.n_in; k++)
            x[k] = kit_get(kit_in(c, k), kit_source(c, k, i));
        long double y = truth_in_long_double(op, x);
        if ((op == COLLET_OP_LOGADDEXP || (op == COLLET_OP_LGAMMA && fabsl(y) < 1)) && isfinite(y))
            kit_near(c, v, 0, i, y, ulp_at(op, dtype, y, x), limit);
        else
            kit_within_ulp(c, v, 0, i, y, limit);
    }
}

/* ---- Complex quotients and magnitudes --------------------------------------------------------- */

typedef struct pair {
    double re, im;
} pair;

static pair input_pair(const kit_case *c, uint32_t k, int64_t i)
{
    int64_t at = 2 * kit_source(c, k, i);
    return (pair){(double)kit_get(kit_in(c, k), at), (double)kit_get(kit_in(c, k), at + 1)};
}

/* Checks a part of a quotient: the error may be the limit of the whole quotient, or the smallest
 * positive number. */
static void near_quotient(const kit_case *c, kit_verdict *v, int64_t i, long double ideal,
                          long double size)
{
    collet_dtype dtype = c->operand[0].dtype;
    const kit_limit *limit = kit_limit_find(c->row->info.id, dtype, "quotient");
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
        pair a = {1, 0}, b = input_pair(c, c->row->info.n_in - 1, i);
        if (c->row->info.n_in == 2)
            a = input_pair(c, 0, i);
        long double _Complex q = quotient(a, b);
        long double size = cabsl(q);
        near_quotient(c, v, 2 * i, creall(q), size);
        near_quotient(c, v, 2 * i + 1, cimagl(q), size);
    }
}

static void judge_magnitude(const kit_case *c, kit_verdict *v)
{
    const kit_limit *limit = kit_limit_find(COLLET_OP_ABS, c->operand[0].dtype, "magnitude");
    for (int64_t i = 0; i < c->operand[0].count; i++) {
        pair a = input_pair(c, 0, i);
        kit_within_ulp(c, v, 0, i, hypotl((long double)a.re, (long double)a.im), limit);
    }
}

static void judge_unit(const kit_case *c, kit_verdict *v)
{
    const kit_limit *limit = kit_limit_find(COLLET_OP_SIGN, c->operand[0].dtype, "unit");
    for (int64_t i = 0; i < c->operand[0].count; i++) {
        pair a = input_pair(c, 0, i);
        long double size = hypotl((long double)a.re, (long double)a.im);
        long double part[2] = {(long double)a.re / size, (long double)a.im / size};
        for (int p = 0; p < 2; p++)
            kit_near(c, v, 0, 2 * i + p,
                     size == 0        ? 0
                     : isfinite(size) ? part[p]
                                      : (long double)NAN,
                     1, limit);
    }
}

/* How much larger than an argument's the error of the power b ln a is. */
static long double spread(uint32_t op, const long double x[4])
{
    if (op != COLLET_OP_POW)
        return 1;
    long double log_abs = logl(hypotl(x[0], x[1])), angle = atan2l(x[1], x[0]);
    return 1 + hypotl(x[2], x[3]) * hypotl(log_abs, angle);
}

/*
 * Either part is within the limit of |y|. Where y is infinite so is a part of the result, and where it
 * is NaN a part is NaN; y may overflow to either.
 */
static void judge_element(const kit_case *c, kit_verdict *v, int64_t i, const long double x[4],
                          const long double y[2])
{
    uint32_t op = c->row->info.id;
    collet_dtype part = kit_part(c->operand[0].dtype);
    const kit_limit *limit = kit_limit_find(op, c->operand[0].dtype, "number");
    long double got[2] = {kit_get(&c->operand[0], 2 * i), kit_get(&c->operand[0], 2 * i + 1)};
    long double size = hypotl(y[0], y[1]), most = part == COLLET_F64 ? 0x1p1022L : 0x1p126L;
    /* Powers whose error is larger than they may be anything. */
    if (op == COLLET_OP_POW && !(spread(op, x) < 1000))
        return;
    bool infinite = isinf(got[0]) || isinf(got[1]), nan = isnan(got[0]) || isnan(got[1]);
    if (!isfinite(size) || size > most) {
        if (kit_exceeds(v, limit, infinite || (isnan(size) && nan) || isfinite(size) ? 0 : 2))
            kit_fail(v, "output 0 [%" PRIi64 "]: a part that is not finite is missing", i);
        return;
    }
    long double smallest = kit_ulp(part, 0) / (long double)limit->limit * 4;
    for (int p = 0; p < 2; p++)
        kit_near(c, v, 0, 2 * i + p, y[p], fmaxl(size * spread(op, x), smallest), limit);
}

static void judge_functions(const kit_case *c, kit_verdict *v)
{
    for (int64_t i = 0; i < c->operand[0].count; i++) {
        pair a = input_pair(c, 0, i), b = {0, 0};
        if (c->row->info.n_in == 2)
            b = input_pair(c, 1, i);
        long double x[4] = {(long double)a.re, (long double)a.im, (long double)b.re,
                            (long double)b.im};
        long double y[2];
        truth_complex(c->row->info.id, x, y);
        judge_element(c, v, i, x, y);
    }
}

static void judge_complex(const kit_case *c, kit_verdict *v)
{
    switch (c->row->info.id) {
    case COLLET_OP_DIV:
    case COLLET_OP_RECIPROCAL:
        judge_quotient(c, v);
        break;
    case COLLET_OP_ABS:
        judge_magnitude(c, v);
        break;
    case COLLET_OP_SIGN:
        judge_unit(c, v);
        break;
    default:
        if (kit_limit_find(c->row->info.id, c->operand[0].dtype, "value")->limit > 0 ||
            c->row->info.id == COLLET_OP_SQRT)
            judge_functions(c, v);
        else
            judge_exact(c, v);
        break;
    }
}

static void judge(const kit_case *c, kit_verdict *v)
{
    const kit_limit *limit = kit_limit_find(c->row->info.id, c->operand[0].dtype, "value");
    if (kit_part(dtype_of(c)) != dtype_of(c))
        judge_complex(c, v);
    else if (limit->limit > 0 && kit_is_real_float(dtype_of(c)))
        judge_near(c, v, limit);
    else
        judge_exact(c, v);
}

#define COLLET_ELEMENTWISE(NAME, ...) {COLLET_OP_##NAME, kit_plan_elementwise, generate, judge},
const kit_op kit_array_elementwise_ops[] = {
#include <collet/ops/elementwise.def>
    {0},
};
