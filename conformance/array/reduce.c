/* SPDX-License-Identifier: Apache-2.0 */
/* array: sum, mean, min, max and argmax over any set of axes.
 * Tests: tests/conformance/test_broken.c */
#include "kit.h"

#include <math.h>
#include <stdlib.h>

/* ---- Plans --------------------------------------------------------------------------------- */

enum { MIXED_SIGNS, POSITIVE, CANCELLING, SPECIAL, ZEROS, KINDS };
static const char *const kind_names[] = {"", "positive", "cancelling", "special values",
                                         "zeros of both signs"};

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
    c.params.reduce = (collet_reduce_params){
        .struct_size = sizeof c.params.reduce, .axes = axes, .keepdims = keepdims};
    c.kind = kind;
    c.data = kind_names[kind];
    return c;
}

/* 1 if the op is defined: min, max and argmax need at least one element. */
static bool defined(const kit_case *c)
{
    uint32_t op = c->row->info.id;
    bool extreme = op == COLLET_OP_MIN || op == COLLET_OP_MAX || op == COLLET_OP_ARGMAX;
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
    for (uint32_t axes = 1; axes < 4; axes++) {
        c = reduced(plan, 2, sheet, axes, 0, POSITIVE);
        c.big = true;
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

/* Zeros, and values that min (or max) does not select before a zero. */
static long double zero_value(kit_rng *rng, const kit_case *c, long double ordinary)
{
    if (kit_below(rng, 40))
        return kit_below(rng, 6) ? (long double)0.0 : -(long double)0.0;
    return c->row->info.id != COLLET_OP_MIN ? -fabsl(ordinary) : fabsl(ordinary);
}

static void generate_reduction(kit_case *c, kit_rng *rng)
{
    kit_tensor *t = &c->operand[1];
    int64_t halves = kit_part(t->dtype) == t->dtype ? 1 : 2, parts = kit_parts(t);
    int spread = kit_part(t->dtype) == COLLET_F32 ? 20 : 40;
    kit_ordinary(t, rng, c->kind == CANCELLING ? spread : 3);
    for (int64_t i = 0; i < parts; i++) {
        if (c->kind == POSITIVE)
            kit_set(t, i, fabsl(kit_get(t, i)));
        else if (c->kind == CANCELLING && i / halves % 2)
            kit_set(t, i, -kit_get(t, i - halves) * (1 + 0x1p-12L));
        else if (c->kind == SPECIAL)
            kit_set(t, i, special_value(rng, kit_get(t, i)));
        else if (c->kind == ZEROS)
            kit_set(t, i, zero_value(rng, c, kit_get(t, i)));
    }
}

/* ---- Judgement ----------------------------------------------------------------------------- */

/* The index of element i of the input over only the axes in `axes`, in C order. */
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

static void judge_sum(const kit_case *c, kit_verdict *v)
{
    const kit_tensor *out = &c->operand[0], *in = kit_in(c, 0);
    const kit_limit *limit = kit_limit_find(c->row->info.id, kit_part(out->dtype), "value");
    int64_t halves = kit_part(in->dtype) == in->dtype ? 1 : 2;
    long double terms = 1;
    total *totals = kit_memory((size_t)kit_parts(out) * sizeof *totals);
    for (int64_t i = 0; i < kit_parts(in); i++)
        add(&totals[target_of(c, i / halves) * halves + i % halves], kit_get(in, i));
    for (int32_t a = 0; c->row->info.id == COLLET_OP_MEAN && a < in->ndim; a++)
        terms *= c->params.reduce.axes >> a & 1 ? (long double)in->shape[a] : 1;
    for (int64_t i = 0; i < kit_parts(out); i++) {
        long double ideal = totals[i].sum + (isfinite(totals[i].sum) ? totals[i].lost : 0);
        kit_near(c, v, 0, i, ideal / terms, totals[i].magnitude / terms, limit);
    }
    free(totals);
}

/* 1 if the op selects x rather than y, which precedes it: NaN first, -0 before 0. For argmax all
 * zeros are equal, and the first of equal elements is selected. */
static bool comes_first(uint32_t op, long double x, long double y)
{
    if (isnan(x) || isnan(y))
        return !isnan(y);
    if (x == y)
        return op == COLLET_OP_MIN ? signbit(x) : op == COLLET_OP_MAX && !signbit(x);
    return op == COLLET_OP_MIN ? x < y : x > y;
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
        bool is_index = c->row->info.id == COLLET_OP_ARGMAX;
        kit_same(c, v, 0, i, is_index ? &index : kit_at(in, chosen[i]), false);
    }
    free(chosen);
}

const kit_op kit_array_reduce_ops[] = {
    {COLLET_OP_SUM, plan_reduction, generate_reduction, judge_sum},
    {COLLET_OP_MEAN, plan_reduction, generate_reduction, judge_sum},
    {COLLET_OP_MIN, plan_reduction, generate_reduction, judge_extreme},
    {COLLET_OP_MAX, plan_reduction, generate_reduction, judge_extreme},
    {COLLET_OP_ARGMAX, plan_reduction, generate_reduction, judge_extreme},
    {0},
};
