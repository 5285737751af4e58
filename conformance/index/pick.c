/* SPDX-License-Identifier: Apache-2.0 */
/* index: take, take_along_axis, put, scatter_add, compress, place and nonzero.
 * Tests: tests/conformance/defects.sh */
#include "kit.h"

#include <stdlib.h>
#include <string.h>

enum { ORDINARY, BAD, KINDS };
static const char *const kind_names[] = {"", "indices out of range"};

/* Extents of the letters K, N and V. `dots`: the number of leading axes; if it is negative, the
 * first leading axis has extent 0. */
typedef struct size {
    int64_t extent[3];
    int32_t dots;
} size;

static kit_case of_size(const kit_plan *plan, const size *s, int kind)
{
    static const int64_t dots[] = {3, 2}, none[] = {0, 2};
    kit_case c = kit_case_of(plan);
    kit_bind(&c, "KNV", s->extent, abs(s->dots), s->dots < 0 ? none : dots, 0);
    c.kind = kind;
    c.data = kind_names[kind];
    return c;
}

/* The last of the sizes is a big case. */
static void plan_sizes(kit_plan *plan, const size *sizes, size_t count, int kinds)
{
    for (size_t i = 0; i < count; i++)
        for (int kind = 0; kind < kinds; kind++) {
            kit_case c = of_size(plan, &sizes[i], kind);
            c.big = i == count - 1;
            kit_emit(plan, &c);
            if (sizes[i].extent[1] != 9)
                continue;
            kit_emit_layouts(plan, &c);
            kit_emit_sharing(plan, &c);
        }
}

static void plan_pick(kit_plan *plan)
{
    /* put has no leading axes. */
    static const size sizes[] = {{{40, 5, 1}, -2},      {{0, 5, 1}, 0},     {{1, 1, 1}, 0},
                                 {{3, 0, 1}, 0},        {{7, 9, 1}, 0},     {{7, 9, 1}, 1},
                                 {{5, 9, 1}, 2},        {{1500, 37, 1}, 0}, {{4099, 1031, 1}, 1},
                                 {{40000, 20000, 1}, 1}};
    plan_sizes(plan, sizes, sizeof sizes / sizeof *sizes, KINDS);
}

static void plan_select(kit_plan *plan)
{
    static const size sizes[] = {{{3, 0, 2}, 0},      {{0, 0, 0}, 0},
                                 {{0, 5, 2}, 0},      {{4, 5, 0}, 0},
                                 {{9, 9, 1}, 0},      {{7, 9, 20}, 1},
                                 {{3, 9, 2}, 2},      {{1500, 1500, 1500}, 0},
                                 {{900, 2100, 3}, 1}, {{70000, 100003, 100003}, 0}};
    plan_sizes(plan, sizes, sizeof sizes / sizeof *sizes, 1);
}

static void plan_nonzero(kit_plan *plan)
{
    static const int64_t shapes[][3] = {{0, 4, 1}, {7, 9, 1}, {3, 4, 5}, {11, 4099, 1}, {1, 1, 3}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int32_t ndim = 0; ndim < 4; ndim++)
            for (int64_t part = 1; part < 3; part++) {
                kit_case c = kit_case_of(plan);
                kit_shape(&c, 1, 0, NULL);
                kit_shape(&c, 2, ndim, shapes[i]);
                kit_shape(&c, 0, 2, (int64_t[]){ndim, (c.operand[2].count + part - 1) / part});
                kit_emit(plan, &c);
                if (i == 2 && ndim == 3)
                    kit_emit_layouts(plan, &c);
            }
}

/* ---- Inputs -------------------------------------------------------------------------------- */

static int64_t extent_of(const kit_tensor *t)
{
    return t->shape[t->ndim - 1];
}

static void generate_pick(kit_case *c, kit_rng *rng)
{
    int64_t n = extent_of(kit_in(c, 0));
    kit_tensor *index = &c->operand[3];
    for (uint32_t k = 2; k < c->row->operands; k++)
        if (c->row->info.id == COLLET_OP_SCATTER_ADD)
            kit_ordinary(&c->operand[k], rng, 3);
        else
            kit_random_bits(&c->operand[k], rng);
    for (int64_t i = 0; i < index->count; i++) {
        int64_t x = n ? kit_below(rng, 2 * n) - n : kit_below(rng, 3) - 1;
        if (c->kind == BAD && kit_below(rng, 9) == 0)
            x = kit_next(rng) & 1 ? n + kit_below(rng, 3) : -n - 1 - kit_below(rng, 3);
        kit_set(index, i, x);
    }
}

static void generate_select(kit_case *c, kit_rng *rng)
{
    for (uint32_t k = 2; k < c->row->operands; k++)
        kit_random_bits(&c->operand[k], rng);
    kit_tensor *mask = &c->operand[c->row->operands > 3 ? 3 : 2];
    for (int64_t i = 0; i < kit_parts(mask); i++)
        if (kit_below(rng, 3))
            kit_set(mask, i, kit_below(rng, 4) ? 0.0L : -0.0L);
}

/* ---- Judgement ----------------------------------------------------------------------------- */

static unsigned char *element(const kit_tensor *t, int64_t i)
{
    return t->data + (size_t)i * collet_dtype_size(t->dtype);
}

/* Checks that output 0 has the elements of `ideal`, and output 1 is `number`. */
static void judge(const kit_case *c, kit_verdict *v, const kit_tensor *ideal, int64_t number)
{
    for (int64_t i = 0; i < kit_parts(ideal); i++)
        kit_same(c, v, 0, i, kit_at(ideal, i), true);
    kit_same(c, v, 1, 0, &number, true);
}

/* A tensor like output 0, of zeros. */
static kit_tensor zeros_of(const kit_case *c)
{
    kit_tensor t = c->operand[0];
    t.data = kit_memory((size_t)t.count * collet_dtype_size(t.dtype));
    return t;
}

/* Index i, counted from the front; -1: out of range. */
static int64_t position_of(const kit_case *c, int64_t i, int64_t n)
{
    int64_t x = (int64_t)kit_get(kit_in(c, 1), i);
    x += x < 0 ? n : 0;
    return x >= 0 && x < n ? x : -1;
}

/* 1 + the position of the first index that is out of range, even if the op moves no element; 0: all are in range. */
static int64_t first_bad(const kit_case *c, int64_t n)
{
    for (int64_t i = 0; i < kit_in(c, 1)->count; i++)
        if (position_of(c, i, n) < 0)
            return i + 1;
    return 0;
}

static void judge_take(const kit_case *c, kit_verdict *v)
{
    const kit_tensor *a = kit_in(c, 0);
    kit_tensor ideal = zeros_of(c);
    int64_t k = extent_of(&ideal), n = extent_of(a), bad = first_bad(c, n);
    bool along = c->row->info.id == COLLET_OP_TAKE_ALONG_AXIS;
    for (int64_t i = 0; i < ideal.count; i++) {
        int64_t x = position_of(c, along ? i : i % k, n);
        if (x >= 0)
            memcpy(element(&ideal, i), element(a, i / k * n + x), collet_dtype_size(a->dtype));
    }
    judge(c, v, &ideal, bad);
    free(ideal.data);
}

static void add_to(collet_dtype dtype, void *sum, const void *x)
{
    if (dtype == COLLET_F32)
        *(float *)sum += *(const float *)x;
    else if (dtype == COLLET_F64)
        *(double *)sum += *(const double *)x;
    else {
        uint64_t a = 0, b = 0;
        size_t bytes = collet_dtype_size(dtype);
        memcpy(&a, sum, bytes);
        memcpy(&b, x, bytes);
        a += b;
        memcpy(sum, &a, bytes);
    }
}

static void judge_writes(const kit_case *c, kit_verdict *v)
{
    const kit_tensor *a = kit_in(c, 0), *values = kit_in(c, 2);
    kit_tensor ideal = zeros_of(c);
    size_t bytes = collet_dtype_size(a->dtype), part = collet_dtype_size(kit_part(a->dtype));
    int64_t n = extent_of(a), k = extent_of(values), bad = first_bad(c, n);
    memcpy(ideal.data, a->data, (size_t)a->count * bytes);
    for (int64_t i = 0; i < values->count; i++) {
        int64_t x = position_of(c, i % k, n);
        if (x < 0)
            continue;
        unsigned char *to = element(&ideal, i / k * n + x);
        if (c->row->info.id == COLLET_OP_PUT)
            memcpy(to, element(values, i), bytes);
        else
            for (size_t at = 0; at < bytes; at += part)
                add_to(kit_part(a->dtype), to + at, element(values, i) + at);
    }
    judge(c, v, &ideal, bad);
    free(ideal.data);
}

static void judge_compress(const kit_case *c, kit_verdict *v)
{
    const kit_tensor *a = kit_in(c, 0), *mask = kit_in(c, 1);
    kit_tensor ideal = zeros_of(c);
    int64_t k = extent_of(&ideal), n = extent_of(a), count = 0;
    for (int64_t i = 0; i < n; i++) {
        if (kit_get(mask, i) == 0)
            continue;
        for (int64_t row = 0; count < k && row < a->count / n; row++)
            memcpy(element(&ideal, row * k + count), element(a, row * n + i),
                   collet_dtype_size(a->dtype));
        count++;
    }
    judge(c, v, &ideal, count);
    free(ideal.data);
}

static void judge_place(const kit_case *c, kit_verdict *v)
{
    const kit_tensor *a = kit_in(c, 0), *mask = kit_in(c, 1), *values = kit_in(c, 2);
    kit_tensor ideal = zeros_of(c);
    size_t bytes = collet_dtype_size(a->dtype);
    int64_t count = 0;
    for (int64_t i = 0; i < a->count; i++) {
        bool set = kit_get(mask, i) != 0;
        int64_t next = values->count == 1 ? 0 : count;
        const unsigned char *from =
            set && next < values->count ? element(values, next) : element(a, i);
        memcpy(element(&ideal, i), from, bytes);
        count += set;
    }
    judge(c, v, &ideal, count);
    free(ideal.data);
}

static void judge_nonzero(const kit_case *c, kit_verdict *v)
{
    const kit_tensor *a = kit_in(c, 0);
    kit_tensor ideal = zeros_of(c);
    int64_t halves = kit_part(a->dtype) == a->dtype ? 1 : 2, k = ideal.shape[1], count = 0;
    for (int64_t i = 0; i < a->count; i++) {
        if (kit_get(a, i * halves) == 0 && (halves == 1 || kit_get(a, i * 2 + 1) == 0))
            continue;
        int64_t rest = i;
        for (int32_t axis = a->ndim - 1; axis >= 0 && count < k; axis--) {
            int64_t at = rest % a->shape[axis];
            memcpy(element(&ideal, axis * k + count), &at, sizeof at);
            rest /= a->shape[axis];
        }
        count++;
    }
    judge(c, v, &ideal, count);
    free(ideal.data);
}

const kit_op kit_index_pick_ops[] = {
    {COLLET_OP_TAKE, plan_pick, generate_pick, judge_take},
    {COLLET_OP_TAKE_ALONG_AXIS, plan_pick, generate_pick, judge_take},
    {COLLET_OP_PUT, plan_pick, generate_pick, judge_writes},
    {COLLET_OP_SCATTER_ADD, plan_pick, generate_pick, judge_writes},
    {COLLET_OP_COMPRESS, plan_select, generate_select, judge_compress},
    {COLLET_OP_PLACE, plan_select, generate_select, judge_place},
    {COLLET_OP_NONZERO, plan_nonzero, generate_select, judge_nonzero},
    {0},
};
