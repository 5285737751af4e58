/* SPDX-License-Identifier: Apache-2.0 */
/* linalg: dot and matvec, judged relative to the sum of |products|.
 * Tests: tests/conformance/test_broken.c */
#include "matrices.h"

#include <math.h>

enum { ORDINARY, SPECIAL, WIDE, CANCELLING };
static const char *const kind_names[] = {"", "special values", "wide exponents", "cancelling"};

static kit_case of_kind(kit_case c, int kind)
{
    c.kind = kind;
    c.data = kind_names[kind];
    return c;
}

static void plan_dot(kit_plan *plan)
{
    static const int64_t lengths[] = {0,  1,  2,  3,  7,  8,   9,   15,  16,   17,
                                      31, 33, 63, 64, 65, 127, 129, 257, 4099, 70001};
    static const int64_t strided[] = {1, 5, 6, 67, 1030};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        kit_case c = kit_case_of(plan);
        kit_bind(&c, "N", &lengths[i], 0, NULL, 0);
        for (int kind = ORDINARY; kind <= CANCELLING; kind++) {
            kit_case next = of_kind(c, kind);
            kit_emit(plan, &next);
        }
        c.layout[0] = c.layout[1] = c.layout[2] = KIT_UNALIGNED;
        kit_emit(plan, &c);
    }
    for (size_t i = 0; i < sizeof strided / sizeof *strided; i++) {
        kit_case c = kit_case_of(plan);
        kit_bind(&c, "N", &strided[i], 0, NULL, 0);
        kit_emit_layouts(plan, &c);
        kit_emit_sharing(plan, &c);
    }
    static const int64_t many = (1 << 21) + 3;
    kit_case c = kit_case_of(plan);
    kit_bind(&c, "N", &many, 0, NULL, 0);
    c = of_kind(c, CANCELLING);
    c.big = true;
    kit_emit(plan, &c);
    c.layout[2] = KIT_REVERSED;
    kit_emit(plan, &c);
}

static kit_case of_matrix(const kit_plan *plan, const int64_t extents[2], int32_t batch_axes,
                          const int64_t *batch)
{
    kit_case c = kit_case_of(plan);
    kit_bind(&c, "MK", extents, batch_axes, batch, 0);
    return c;
}

static void plan_matvec_batches(kit_plan *plan)
{
    static const int64_t matrix[] = {4, 5}, two[] = {2, 3}, none[] = {0};
    static const int64_t one_matrix[] = {3, 4, 5}, one_vector[] = {2, 1, 5}, alone[] = {5};
    kit_case c = of_matrix(plan, matrix, 2, two);
    kit_emit_layouts(plan, &c);
    kit_shape(&c, 1, 3, one_matrix);
    kit_shape(&c, 2, 3, one_vector);
    kit_emit_layouts(plan, &c);
    kit_shape(&c, 2, 1, alone);
    kit_emit_layouts(plan, &c);
    c = of_matrix(plan, matrix, 1, none);
    kit_emit(plan, &c);
}

static void plan_matvec(kit_plan *plan)
{
    static const int64_t sizes[][2] = {{1, 1},   {2, 3},    {1, 7},    {9, 1},    {0, 3},
                                       {3, 0},   {0, 0},    {5, 6},    {16, 17},  {33, 31},
                                       {64, 64}, {65, 130}, {8, 129},  {130, 8},  {4, 300},
                                       {300, 4}, {3, 4099}, {4099, 3}, {257, 33}, {100, 1}};
    static const int64_t strided[][2] = {{5, 4}, {1, 6}, {6, 1}, {17, 9}, {9, 70}, {70, 9}};
    static const int64_t big[][2] = {{3, 300007}, {300007, 3}, {601, 701}}, cut[] = {11, 6};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        kit_case c = of_matrix(plan, sizes[i], 0, NULL);
        for (int kind = ORDINARY; kind <= CANCELLING; kind++) {
            kit_case next = of_kind(c, kind);
            kit_emit(plan, &next);
            next.layout[1] = KIT_TRANSPOSED;
            kit_emit(plan, &next);
        }
    }
    for (size_t i = 0; i < sizeof strided / sizeof *strided; i++) {
        kit_case c = of_matrix(plan, strided[i], 0, NULL);
        kit_emit_layouts(plan, &c);
        kit_emit_sharing(plan, &c);
    }
    plan_matvec_batches(plan);
    kit_case c = of_matrix(plan, cut, 0, NULL);
    kit_emit_parts(plan, &c);
    for (size_t i = 0; i < sizeof big / sizeof *big; i++) {
        c = of_kind(of_matrix(plan, big[i], 0, NULL), CANCELLING);
        c.big = true;
        kit_emit(plan, &c);
        c.layout[1] = KIT_TRANSPOSED;
        kit_emit(plan, &c);
    }
}

/* CANCELLING: each pair of products nearly cancels the pair before it. */
static void generate(kit_case *c, kit_rng *rng)
{
    for (uint32_t k = 1; k < 3; k++) {
        kit_tensor *t = &c->operand[k];
        if (c->kind == WIDE) {
            kit_ordinary(t, rng, kit_part(t->dtype) == COLLET_F32 ? 30 : 200);
            continue;
        }
        for (int64_t i = 0; i < kit_parts(t); i++) {
            double value = kit_normal(rng);
            if (c->kind == CANCELLING)
                value = (k == 1 && i % 2 ? -1 : 1) * (1 + 1e-3 * value);
            kit_set(t, i, value);
            if (c->kind == SPECIAL && kit_below(rng, 20) == 0)
                kit_set(t, i, kit_next(rng) & 1 ? (long double)NAN : (long double)INFINITY);
        }
    }
}

/* Compares output element `at` with the dot product of input 0 from `row` and input 1 from `x`. */
static void judge_products(const kit_case *c, kit_verdict *v, int64_t at, int64_t row, int64_t x,
                           int64_t n)
{
    collet_dtype dtype = c->operand[0].dtype;
    const kit_limit *limit = kit_limit_find(c->row->info.id, kit_part(dtype), "value");
    int parts = kit_part(dtype) == dtype ? 1 : 2;
    for (int part = 0; part < parts; part++) {
        real sum = 0, magnitude = 0;
        for (int64_t k = 0; k < n; k++)
            kit_add_term(kit_in(c, 0), row + k, kit_in(c, 1), x + k, part, &sum, &magnitude);
        kit_near(c, v, 0, parts * at + part, sum, magnitude, limit);
    }
}

static void judge_dot(const kit_case *c, kit_verdict *v)
{
    judge_products(c, v, 0, 0, 0, kit_in(c, 0)->count);
}

static void judge_matvec(const kit_case *c, kit_verdict *v)
{
    const kit_tensor *out = &c->operand[0], *a = kit_in(c, 0);
    int64_t m = out->shape[out->ndim - 1], n = a->shape[a->ndim - 1];
    for (int64_t at = 0; at < out->count; at++)
        judge_products(c, v, at, kit_start(c, 1, 2, 1, at / m) + at % m * n,
                       kit_start(c, 2, 1, 1, at / m), n);
}

const kit_op kit_linalg_vector_ops[] = {
    {COLLET_OP_DOT, plan_dot, generate, judge_dot},
    {COLLET_OP_MATVEC, plan_matvec, generate, judge_matvec},
    {0},
};
