/* SPDX-License-Identifier: Apache-2.0 */
/* array: the ops that know their axes, transpose and sum. */
#include "kit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- transpose ----------------------------------------------------------------------------- */

typedef struct permuted {
    int32_t ndim;
    int64_t shape[COLLET_MAX_DIMS];
    int32_t perm[COLLET_MAX_DIMS];
} permuted;

static const permuted permutations[] = {
    {0, {0}, {0}},
    {1, {1}, {0}},
    {1, {17}, {0}},
    {2, {1, 9}, {1, 0}},
    {2, {3, 5}, {1, 0}},
    {2, {3, 5}, {0, 1}},
    {2, {17, 33}, {1, 0}},
    {2, {64, 64}, {1, 0}},
    {2, {65, 63}, {1, 0}},
    {2, {0, 7}, {1, 0}},
    {3, {3, 4, 5}, {0, 1, 2}},
    {3, {3, 4, 5}, {0, 2, 1}},
    {3, {3, 4, 5}, {1, 0, 2}},
    {3, {3, 4, 5}, {1, 2, 0}},
    {3, {3, 4, 5}, {2, 0, 1}},
    {3, {3, 4, 5}, {2, 1, 0}},
    {3, {2, 0, 3}, {2, 1, 0}},
    {4, {2, 3, 4, 5}, {3, 1, 0, 2}},
    {4, {5, 1, 3, 2}, {0, 2, 1, 3}},
    {6, {2, 3, 1, 2, 3, 2}, {5, 0, 3, 1, 4, 2}},
    {8, {2, 1, 2, 3, 1, 2, 2, 2}, {7, 2, 0, 6, 1, 4, 3, 5}},
};

static kit_case transposed(const kit_plan *plan, const permuted *p)
{
    kit_case c = kit_case_of(plan);
    int64_t shape[COLLET_MAX_DIMS] = {0};
    c.params.transpose.struct_size = sizeof c.params.transpose;
    c.params.transpose.ndim = (uint32_t)p->ndim;
    for (int32_t i = 0; i < p->ndim; i++) {
        c.params.transpose.perm[i] = p->perm[i];
        shape[i] = p->shape[p->perm[i]];
    }
    kit_shape(&c, 0, p->ndim, shape);
    kit_shape(&c, 1, p->ndim, p->shape);
    return c;
}

static void plan_transpose(kit_plan *plan)
{
    static const permuted strided[] = {
        {1, {19}, {0}}, {2, {9, 7}, {1, 0}}, {3, {4, 3, 6}, {1, 2, 0}}};
    static const permuted square = {2, {9, 9}, {1, 0}}, cube = {3, {4, 4, 4}, {1, 2, 0}};
    static const permuted big = {2, {701, 1023}, {1, 0}};
    for (size_t i = 0; i < sizeof permutations / sizeof *permutations; i++) {
        kit_case c = transposed(plan, &permutations[i]);
        kit_emit(plan, &c);
        c.layout[0] = c.layout[1] = KIT_UNALIGNED;
        kit_emit(plan, &c);
    }
    for (size_t i = 0; i < sizeof strided / sizeof *strided; i++) {
        kit_case c = transposed(plan, &strided[i]);
        kit_emit_layouts(plan, &c);
    }
    kit_case c = transposed(plan, &square);
    kit_emit_sharing(plan, &c);
    c = transposed(plan, &cube);
    kit_emit_sharing(plan, &c);
    c = transposed(plan, &big);
    c.big = true;
    if (collet_dtype_size(plan->row->dtypes[0]) >= 4)
        kit_emit(plan, &c);
}

static void generate_transpose(kit_case *c, kit_rng *rng)
{
    kit_random_bits(&c->operand[1], rng);
}

static void judge_transpose(const kit_case *c, kit_verdict *v)
{
    const kit_tensor *out = &c->operand[0], *in = kit_in(c, 0);
    int64_t halves = kit_part(out->dtype) == out->dtype ? 1 : 2, stride[COLLET_MAX_DIMS], scale = 1;
    for (int32_t i = in->ndim - 1; i >= 0; i--) {
        stride[i] = scale;
        scale *= in->shape[i];
    }
    for (int64_t i = 0; i < out->count; i++) {
        int64_t rest = i, from = 0;
        for (int32_t a = out->ndim - 1; a >= 0; a--) {
            from += rest % out->shape[a] * stride[c->params.transpose.perm[a]];
            rest /= out->shape[a];
        }
        for (int64_t h = 0; h < halves; h++)
            kit_same(c, v, 0, i * halves + h, kit_at(in, from * halves + h), true);
    }
}

/* ---- sum ----------------------------------------------------------------------------------- */

enum { MIXED_SIGNS, POSITIVE, CANCELLING, SPECIAL };
static const char *const kind_names[] = {"", "positive", "cancelling", "special values"};

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

/* Every set of axes of a shape. */
static void plan_axes(kit_plan *plan, int32_t ndim, const int64_t *shape, bool layouts)
{
    for (uint32_t axes = 0; axes < 1u << ndim; axes++)
        for (uint32_t keepdims = 0; keepdims < 2; keepdims++) {
            kit_case c = reduced(plan, ndim, shape, axes, keepdims, (int)(axes % 4));
            if (layouts && keepdims == 0)
                kit_emit_layouts(plan, &c);
            else
                kit_emit(plan, &c);
        }
}

static void plan_sum(kit_plan *plan)
{
    static const int64_t lengths[] = {0, 1, 2, 3, 7, 8, 9, 16, 31, 33, 64, 127, 255, 1000, 4099};
    static const int64_t plane[] = {7, 9}, empty[] = {0, 4}, block[] = {3, 4, 5};
    static const int64_t hyper[] = {2, 3, 4, 5}, long_rows[] = {5, 1031}, tall[] = {1031, 5};
    static const int64_t many[] = {2, 1, 2, 3, 1, 2, 2, 2};
    static const int64_t million[] = {(1 << 20) + 7}, sheet[] = {1025, 511};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (int kind = MIXED_SIGNS; kind <= SPECIAL; kind++) {
            kit_case c = reduced(plan, 1, &lengths[i], 1, 0, kind);
            kit_emit(plan, &c);
            c.layout[0] = c.layout[1] = KIT_UNALIGNED;
            kit_emit(plan, &c);
        }
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
    c = reduced(plan, 1, million, 1, 0, POSITIVE);
    c.big = true;
    kit_emit(plan, &c);
    for (uint32_t axes = 1; axes < 4; axes++) {
        c = reduced(plan, 2, sheet, axes, 0, POSITIVE);
        c.big = true;
        kit_emit(plan, &c);
    }
}

static void generate_sum(kit_case *c, kit_rng *rng)
{
    kit_tensor *t = &c->operand[1];
    int spread = t->dtype == COLLET_F32 ? 20 : 40;
    kit_ordinary(t, rng, c->kind == CANCELLING ? spread : 3);
    for (int64_t i = 0; i < t->count; i++) {
        if (c->kind == POSITIVE)
            kit_set(t, i, fabsl(kit_get(t, i)));
        else if (c->kind == CANCELLING && i % 2)
            kit_set(t, i, -kit_get(t, i - 1) * (1 + 0x1p-12L));
        else if (c->kind == SPECIAL && kit_below(rng, 8) == 0)
            kit_set(t, i, kit_below(rng, 3) ? (long double)INFINITY : -(long double)0.0);
        else if (c->kind == SPECIAL && kit_below(rng, 30) == 0)
            kit_set(t, i, kit_below(rng, 2) ? -(long double)INFINITY : (long double)NAN);
    }
}

/* Neumaier's compensated sum; infinities and NaN go through as in a plain one. */
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
    const kit_limit *limit = kit_limit_find(COLLET_OP_SUM, out->dtype, "value");
    total *totals = kit_memory((size_t)out->count * sizeof *totals);
    for (int64_t i = 0; i < in->count; i++) {
        int64_t rest = i, to = 0, scale = 1;
        for (int32_t a = in->ndim - 1; a >= 0; a--) {
            if (!(c->params.reduce.axes >> a & 1)) {
                to += rest % in->shape[a] * scale;
                scale *= in->shape[a];
            }
            rest /= in->shape[a];
        }
        add(&totals[to], kit_get(in, i));
    }
    for (int64_t i = 0; i < out->count; i++) {
        long double want = totals[i].sum + (isfinite(totals[i].sum) ? totals[i].lost : 0);
        kit_near(c, v, 0, i, want, totals[i].magnitude, limit);
    }
    free(totals);
}

const kit_op kit_array_axes_ops[] = {
    {COLLET_OP_TRANSPOSE, plan_transpose, generate_transpose, judge_transpose},
    {COLLET_OP_SUM, plan_sum, generate_sum, judge_sum},
};
const size_t kit_array_axes_op_count = sizeof kit_array_axes_ops / sizeof *kit_array_axes_ops;
