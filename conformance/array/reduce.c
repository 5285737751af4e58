/* SPDX-License-Identifier: Apache-2.0 */
/* array: reductions over any set of axes.
 * Tests: tests/conformance/test_broken.c */
#include "kit.h"

#include <math.h>
#include <stdlib.h>

/* ---- Plans --------------------------------------------------------------------------------- */

enum { MIXED_SIGNS, POSITIVE, CANCELLING, SPECIAL, ZEROS, KINDS };
static const char *const kind_names[] = {"", "positive", "cancelling", "special values",
                                         "zeros of both signs"};

static bool is_variance(uint32_t op)
{
    return op == COLLET_OP_VAR || op == COLLET_OP_STD;
}

static bool is_place(uint32_t op)
{
    return op == COLLET_OP_ARGMIN || op == COLLET_OP_ARGMAX;
}

static bool is_count(uint32_t op)
{
    return op == COLLET_OP_ANY || op == COLLET_OP_ALL || op == COLLET_OP_COUNT_NONZERO;
}

static kit_case reduced(const kit_plan *plan, int32_t ndim, const int64_t *shape, uint32_t axes,
                        uint32_t keepdims, int kind)
{
    kit_case c = kit_case_of(plan);
    int64_t left[COLLET_MAX_DIMS];
    int32_t count = 0;
    for (int32_t i = 0; i < ndim; i++)
        if (!(axes >> i & 1))
            left[count++] = shape[i];
        else if (keepdims)
            left[count++] = 1;
    kit_shape(&c, 0, count, left);
    kit_shape(&c, 1, ndim, shape);
    if (is_variance(plan->row->info.id))
        c.params.variance = (collet_variance_params){.struct_size = sizeof c.params.variance,
                                                     .axes = axes,
                                                     .keepdims = keepdims,
                                                     .correction = axes % 3 * 0.75};
    else
        c.params.reduce = (collet_reduce_params){
            .struct_size = sizeof c.params.reduce, .axes = axes, .keepdims = keepdims};
    c.kind = kind;
    c.data = kind_names[kind];
    return c;
}

/* 1 if the op is defined: min, max, argmin and argmax need at least one element. */
static bool defined(const kit_case *c)
{
    uint32_t op = c->row->info.id;
    bool extreme = op == COLLET_OP_MIN || op == COLLET_OP_MAX || is_place(op);
    return !extreme || kit_in(c, 0)->count > 0 || c->operand[0].count == 0;
}

/* Emits a case for every set of axes of a shape. */
static void plan_axes(kit_plan *plan, int32_t ndim, const int64_t *shape, bool layouts)
{
    for (uint32_t axes = 0; axes < 1u << ndim; axes++)
        for (uint32_t keepdims = 0; keepdims < 2; keepdims++) {
            kit_case c = reduced(plan, ndim, shape, axes, keepdims, (int)(axes % KINDS));
            if (!defined(&c))
                continue;
            if (layouts && keepdims == 0)
                kit_emit_layouts(plan, &c);
            else
                kit_emit(plan, &c);
        }
}

static void plan_lengths(kit_plan *plan)
{
    static const int64_t lengths[] = {0, 1, 2, 3, 7, 8, 9, 16, 31, 33, 64, 127, 255, 1000, 4099};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (int kind = MIXED_SIGNS; kind < KINDS; kind++) {
            kit_case c = reduced(plan, 1, &lengths[i], 1, 0, kind);
            if (!defined(&c))
                continue;
            kit_emit(plan, &c);
            c.layout[0] = c.layout[1] = KIT_UNALIGNED;
            kit_emit(plan, &c);
        }
}

static void plan_reduction(kit_plan *plan)
{
    static const int64_t plane[] = {7, 9}, empty[] = {0, 4}, block[] = {3, 4, 5};
    static const int64_t hyper[] = {2, 3, 4, 5}, long_rows[] = {5, 1031}, tall[] = {1031, 5};
    static const int64_t many[] = {2, 1, 2, 3, 1, 2, 2, 2};
    static const int64_t thousands[] = {20011}, million[] = {(1 << 20) + 7}, sheet[] = {1025, 511};
    static const int64_t field[] = {2101, 4099}; /* columns beyond the caches */
    plan_lengths(plan);
    plan_axes(plan, 0, NULL, false);
    plan_axes(plan, 1, plane, true);
    plan_axes(plan, 2, plane, true);
    plan_axes(plan, 2, empty, false);
    plan_axes(plan, 3, block, true);
    plan_axes(plan, 4, hyper, false);
    plan_axes(plan, 2, long_rows, true);
    plan_axes(plan, 2, tall, true);
    kit_case c = reduced(plan, 8, many, 0x52, 1, MIXED_SIGNS);
    kit_emit(plan, &c);
    c = reduced(plan, 2, plane, 2, 0, MIXED_SIGNS);
    kit_emit_sharing(plan, &c);
    c = reduced(plan, 1, plane, 1, 0, POSITIVE);
    kit_emit_sharing(plan, &c);
    c = reduced(plan, 1, thousands, 1, 0, MIXED_SIGNS);
    kit_emit(plan, &c);
    c = reduced(plan, 1, million, 1, 0, POSITIVE);
    c.big = true;
    kit_emit(plan, &c);
    for (uint32_t axes = 1; axes < 5; axes++) {
        c = axes < 4 ? reduced(plan, 2, sheet, axes, 0, POSITIVE)
                     : reduced(plan, 2, field, 1, 0, MIXED_SIGNS);
        c.big = true;
        if (axes < 4 || plan->row->dtypes[1] == COLLET_F32)
            kit_emit(plan, &c);
    }
}

/* ---- Inputs -------------------------------------------------------------------------------- */

static long double special_value(kit_rng *rng, long double ordinary)
{
    if (kit_below(rng, 8) == 0)
        return kit_below(rng, 3) ? (long double)INFINITY : -(long double)0.0;
    if (kit_below(rng, 30) == 0)
        return kit_below(rng, 2) ? -(long double)INFINITY : (long double)NAN;
    return ordinary;
}

/* Mostly zeros; other values are positive for min and argmin, negative for max and argmax, so that
 * a zero wins. */
static long double zero_value(kit_rng *rng, const kit_case *c, long double ordinary)
{
    if (kit_below(rng, 40))
        return kit_below(rng, 6) ? (long double)0.0 : -(long double)0.0;
    bool least = c->row->info.id == COLLET_OP_MIN || c->row->info.id == COLLET_OP_ARGMIN;
    return least ? fabsl(ordinary) : -fabsl(ordinary);
}

/* Factors whose product, over any part of the elements, is neither too large nor too small. */
static void generate_factors(kit_case *c, kit_rng *rng)
{
    kit_tensor *t = &c->operand[1];
    int64_t outputs = c->operand[0].count;
    double each = outputs ? (double)t->count / (double)outputs : 1;
    /* If one row is repeated (stride 0), the product of a column is a power. */
    double steps = c->layout[1] == KIT_REPEATED ? each + 1 : sqrt(each + 1);
    double spread = (collet_dtype_size(t->dtype) == 2 ? 4 : 30) / steps;
    for (int64_t i = 0; i < t->count; i++) {
        double x = exp2(kit_uniform(rng, -spread, spread));
        kit_set(t, i, kit_next(rng) & 1 ? -x : x);
    }
}

static void generate_integers(kit_case *c, kit_rng *rng)
{
    kit_tensor *t = &c->operand[1];
    if (c->kind == SPECIAL || c->kind == CANCELLING)
        kit_random_bits(t, rng);
    else if (c->kind == ZEROS)
        kit_edges(t, 1);
    else
        kit_ordinary(t, rng, 0);
    for (int64_t i = 0; i < t->count; i++)
        if (c->kind == POSITIVE && kit_get(t, i) == 0)
            kit_set(t, i, 1);
}

static void generate_reduction(kit_case *c, kit_rng *rng)
{
    kit_tensor *t = &c->operand[1];
    int64_t halves = kit_part(t->dtype) == t->dtype ? 1 : 2, parts = kit_parts(t);
    size_t size = collet_dtype_size(kit_part(t->dtype));
    if (!kit_is_real_float(kit_part(t->dtype))) {
        generate_integers(c, rng);
        if (!is_count(c->row->info.id) || c->kind != ZEROS)
            return;
    } else if (c->row->info.id == COLLET_OP_PROD) {
        generate_factors(c, rng);
    } else {
        kit_ordinary(t, rng, c->kind != CANCELLING ? 3 : size == 8 ? 40 : size == 4 ? 20 : 6);
    }
    for (int64_t i = 0; i < parts; i++) {
        if (c->kind == POSITIVE)
            kit_set(t, i, fabsl(kit_get(t, i)));
        else if (c->kind == CANCELLING && i / halves % 2 && c->row->info.id != COLLET_OP_PROD)
            kit_set(t, i, -kit_get(t, i - halves) * (1 + 0x1p-12L));
        else if (c->kind == SPECIAL)
            kit_set(t, i, special_value(rng, kit_get(t, i)));
        else if (c->kind == ZEROS)
            kit_set(t, i, zero_value(rng, c, kit_get(t, i)));
    }
}

/* ---- Judgement ----------------------------------------------------------------------------- */

/* Element i of the input: its index in C order if only the axes in `axes` are counted. */
static int64_t index_over(const kit_case *c, uint32_t axes, int64_t i)
{
    const kit_tensor *in = kit_in(c, 0);
    int64_t index = 0, scale = 1;
    for (int32_t a = in->ndim - 1; a >= 0; a--) {
        if (axes >> a & 1) {
            index += i % in->shape[a] * scale;
            scale *= in->shape[a];
        }
        i /= in->shape[a];
    }
    return index;
}

/* The element of the output to which element i of the input is reduced. */
static int64_t target_of(const kit_case *c, int64_t i)
{
    return index_over(c, ~c->params.reduce.axes, i);
}

/* Neumaier's compensated sum; infinities and NaN propagate as in a plain sum. */
typedef struct total {
    long double sum, lost, magnitude;
} total;

static void add(total *t, long double x)
{
    long double next = t->sum + x;
    if (isfinite(next))
        t->lost += fabsl(t->sum) >= fabsl(x) ? t->sum - next + x : x - next + t->sum;
    t->sum = next;
    t->magnitude += fabsl(x);
}

/* The sums over the input's elements, 2 for a complex output; the caller frees them. */
static total *totals_of(const kit_case *c)
{
    const kit_tensor *out = &c->operand[0], *in = kit_in(c, 0);
    int64_t halves = kit_part(in->dtype) == in->dtype ? 1 : 2;
    total *totals = kit_memory((size_t)kit_parts(out) * sizeof *totals);
    for (int64_t i = 0; i < kit_parts(in); i++)
        add(&totals[target_of(c, i / halves) * halves + i % halves], kit_get(in, i));
    return totals;
}

static long double value_of(const total *t)
{
    return t->sum + (isfinite(t->sum) ? t->lost : 0);
}

/* The number of elements that are reduced to one. */
static long double terms_of(const kit_case *c)
{
    const kit_tensor *in = kit_in(c, 0);
    long double terms = 1;
    for (int32_t a = 0; a < in->ndim; a++)
        terms *= c->params.reduce.axes >> a & 1 ? (long double)in->shape[a] : 1;
    return terms;
}

/* Sums and products of integers, modulo 2^64. */
static void judge_integers(const kit_case *c, kit_verdict *v)
{
    const kit_tensor *out = &c->operand[0], *in = kit_in(c, 0);
    bool product = c->row->info.id == COLLET_OP_PROD;
    uint64_t *results = kit_memory((size_t)out->count * sizeof *results);
    for (int64_t i = 0; i < out->count; i++)
        results[i] = product;
    for (int64_t i = 0; i < in->count; i++) {
        long double x = kit_get(in, i);
        uint64_t word = x < 0 ? (uint64_t)(int64_t)x : (uint64_t)x,
                 *result = &results[target_of(c, i)];
        *result = product ? *result * word : *result + word;
    }
    for (int64_t i = 0; i < out->count; i++)
        kit_same(c, v, 0, i, &results[i], true);
    free(results);
}

static void judge_sum(const kit_case *c, kit_verdict *v)
{
    const kit_tensor *out = &c->operand[0];
    const kit_limit *limit = kit_limit_find(c->row->info.id, kit_part(out->dtype), "value");
    if (!kit_is_real_float(kit_part(out->dtype))) {
        judge_integers(c, v);
        return;
    }
    long double terms = c->row->info.id == COLLET_OP_MEAN ? terms_of(c) : 1;
    total *totals = totals_of(c);
    for (int64_t i = 0; i < kit_parts(out); i++)
        kit_near(c, v, 0, i, value_of(&totals[i]) / terms, totals[i].magnitude / terms, limit);
    free(totals);
}

static void judge_product(const kit_case *c, kit_verdict *v)
{
    const kit_tensor *out = &c->operand[0], *in = kit_in(c, 0);
    const kit_limit *limit = kit_limit_find(COLLET_OP_PROD, out->dtype, "value");
    if (!kit_is_real_float(out->dtype)) {
        judge_integers(c, v);
        return;
    }
    long double terms = out->dtype == COLLET_F64 ? terms_of(c) : 1;
    long double *products = kit_memory((size_t)out->count * sizeof *products);
    for (int64_t i = 0; i < out->count; i++)
        products[i] = 1;
    for (int64_t i = 0; i < in->count; i++)
        products[target_of(c, i)] *= kit_get(in, i);
    for (int64_t i = 0; i < out->count; i++)
        kit_near(c, v, 0, i, products[i], terms * fabsl(products[i]), limit);
    free(products);
}

/* An error of the mean adds its square to the variance. */
static void judge_variance(const kit_case *c, kit_verdict *v)
{
    const kit_tensor *out = &c->operand[0], *in = kit_in(c, 0);
    const kit_limit *limit = kit_limit_find(c->row->info.id, out->dtype, "value");
    long double terms = terms_of(c), divisor = terms - (long double)c->params.variance.correction;
    bool root = c->row->info.id == COLLET_OP_STD;
    total *totals = totals_of(c);
    total *squares = kit_memory((size_t)out->count * sizeof *squares);
    for (int64_t i = 0; i < in->count; i++) {
        long double x = kit_get(in, i) - value_of(&totals[target_of(c, i)]) / terms;
        add(&squares[target_of(c, i)], x * x);
    }
    divisor = divisor > 0 ? divisor : 0;
    for (int64_t i = 0; i < out->count; i++) {
        long double ideal = value_of(&squares[i]) / divisor;
        long double off = 0x1p-50L * totals[i].magnitude / sqrtl(terms * divisor);
        if (root)
            kit_near(c, v, 0, i, sqrtl(ideal), sqrtl(ideal) + off / (long double)limit->limit,
                     limit);
        else
            kit_near(c, v, 0, i, ideal, ideal + off * off / (long double)limit->limit, limit);
    }
    free(squares);
    free(totals);
}

static void judge_count(const kit_case *c, kit_verdict *v)
{
    const kit_tensor *out = &c->operand[0], *in = kit_in(c, 0);
    int64_t halves = kit_part(in->dtype) == in->dtype ? 1 : 2;
    int64_t *counts = kit_memory((size_t)out->count * sizeof *counts);
    for (int64_t i = 0; i < in->count; i++)
        counts[target_of(c, i)] +=
            kit_get(in, i * halves) != 0 || (halves == 2 && kit_get(in, i * 2 + 1) != 0);
    for (int64_t i = 0; i < out->count; i++) {
        uint8_t flag = c->row->info.id == COLLET_OP_ANY ? counts[i] > 0
                                                        : (long double)counts[i] == terms_of(c);
        bool is_number = c->row->info.id == COLLET_OP_COUNT_NONZERO;
        kit_same(c, v, 0, i, is_number ? (const void *)&counts[i] : &flag, true);
    }
    free(counts);
}

/* 1 if the op selects x instead of y, where y precedes x. NaN is selected first, and -0 before 0. For argmin and
 * argmax all zeros are equal, and the first of equal elements is selected. */
static bool comes_first(uint32_t op, long double x, long double y)
{
    if (isnan(x) || isnan(y))
        return !isnan(y);
    if (x == y)
        return op == COLLET_OP_MIN ? signbit(x) : op == COLLET_OP_MAX && !signbit(x);
    return op == COLLET_OP_MIN || op == COLLET_OP_ARGMIN ? x < y : x > y;
}

static void judge_extreme(const kit_case *c, kit_verdict *v)
{
    const kit_tensor *out = &c->operand[0], *in = kit_in(c, 0);
    int64_t *chosen = kit_memory((size_t)out->count * sizeof *chosen);
    for (int64_t i = 0; i < out->count; i++)
        chosen[i] = -1;
    for (int64_t i = 0; i < in->count; i++) {
        int64_t *best = &chosen[target_of(c, i)];
        if (*best < 0 || comes_first(c->row->info.id, kit_get(in, i), kit_get(in, *best)))
            *best = i;
    }
    for (int64_t i = 0; i < out->count; i++) {
        int64_t index = index_over(c, c->params.reduce.axes, chosen[i]);
        kit_same(c, v, 0, i, is_place(c->row->info.id) ? &index : kit_at(in, chosen[i]), false);
    }
    free(chosen);
}

const kit_op kit_array_reduce_ops[] = {
    {COLLET_OP_SUM, plan_reduction, generate_reduction, judge_sum},
    {COLLET_OP_MEAN, plan_reduction, generate_reduction, judge_sum},
    {COLLET_OP_MIN, plan_reduction, generate_reduction, judge_extreme},
    {COLLET_OP_MAX, plan_reduction, generate_reduction, judge_extreme},
    {COLLET_OP_ARGMAX, plan_reduction, generate_reduction, judge_extreme},
    {COLLET_OP_ARGMIN, plan_reduction, generate_reduction, judge_extreme},
    {COLLET_OP_PROD, plan_reduction, generate_reduction, judge_product},
    {COLLET_OP_VAR, plan_reduction, generate_reduction, judge_variance},
    {COLLET_OP_STD, plan_reduction, generate_reduction, judge_variance},
    {COLLET_OP_ANY, plan_reduction, generate_reduction, judge_count},
    {COLLET_OP_ALL, plan_reduction, generate_reduction, judge_count},
    {COLLET_OP_COUNT_NONZERO, plan_reduction, generate_reduction, judge_count},
    {0},
};
