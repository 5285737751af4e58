/* SPDX-License-Identifier: Apache-2.0 */
/* linalg: matmul, judged against the sum of the magnitudes of the products. */
#include "kit.h"

#include <math.h>

enum { ORDINARY, SPECIAL, INTEGERS };
static const char *const kind_names[] = {"", "special values", "small integers"};

typedef struct product {
    int64_t m, n, k;
} product;

static kit_case of_product(const kit_plan *plan, const product *p, int32_t batch_axes,
                           const int64_t *batch, int kind)
{
    kit_case c = kit_case_of(plan);
    int64_t extents[] = {p->m, p->n, p->k};
    kit_bind(&c, "MNK", extents, batch_axes, batch, 0);
    c.kind = kind;
    c.data = kind_names[kind];
    return c;
}

static void set_batch(kit_case *c, uint32_t operand, int64_t rows, int64_t columns, int32_t axes,
                      const int64_t *batch)
{
    int64_t shape[COLLET_MAX_DIMS];
    for (int32_t i = 0; i < axes; i++)
        shape[i] = batch[i];
    shape[axes] = rows;
    shape[axes + 1] = columns;
    kit_shape(c, operand, axes + 2, shape);
}

static void plan_batches(kit_plan *plan)
{
    static const product p = {3, 4, 5};
    static const int64_t two[] = {2, 3}, one[] = {3}, column[] = {2, 1}, none[] = {0};
    kit_case c = of_product(plan, &p, 2, two, ORDINARY);
    kit_emit_layouts(plan, &c);
    set_batch(&c, 1, p.m, p.k, 1, one);
    set_batch(&c, 2, p.k, p.n, 2, column);
    kit_emit_layouts(plan, &c);
    set_batch(&c, 1, p.m, p.k, 0, NULL);
    set_batch(&c, 2, p.k, p.n, 2, two);
    kit_emit(plan, &c);
    c = of_product(plan, &p, 1, none, ORDINARY);
    kit_emit(plan, &c);
}

static void plan_matmul(kit_plan *plan)
{
    static const product products[] = {
        {1, 1, 1},    {2, 3, 4},     {1, 7, 5},    {9, 1, 5},    {5, 6, 1},
        {7, 5, 3},    {8, 8, 8},     {16, 17, 9},  {33, 31, 65}, {64, 64, 64},
        {3, 129, 40}, {100, 3, 257}, {0, 3, 4},    {3, 0, 4},    {3, 4, 0},
        {0, 0, 0},    {2, 2, 4099},  {130, 70, 1}, {1, 257, 33}, {257, 1, 33},
    };
    static const product strided[] = {{5, 7, 4}, {17, 9, 33}, {1, 6, 3}, {6, 1, 3}, {1, 1, 5}};
    static const product square = {6, 6, 6}, big = {241, 255, 263}, cut = {11, 4, 6};
    for (size_t i = 0; i < sizeof products / sizeof *products; i++) {
        for (int kind = ORDINARY; kind <= INTEGERS; kind++) {
            kit_case c = of_product(plan, &products[i], 0, NULL, kind);
            kit_emit(plan, &c);
        }
        kit_case c = of_product(plan, &products[i], 0, NULL, ORDINARY);
        c.layout[0] = c.layout[1] = c.layout[2] = KIT_UNALIGNED;
        kit_emit(plan, &c);
        c.layout[0] = KIT_DENSE;
        c.layout[1] = c.layout[2] = KIT_TRANSPOSED;
        kit_emit(plan, &c);
    }
    for (size_t i = 0; i < sizeof strided / sizeof *strided; i++) {
        kit_case c = of_product(plan, &strided[i], 0, NULL, ORDINARY);
        kit_emit_layouts(plan, &c);
    }
    plan_batches(plan);
    kit_case c = of_product(plan, &square, 0, NULL, ORDINARY);
    kit_emit_sharing(plan, &c);
    c = of_product(plan, &cut, 0, NULL, ORDINARY);
    kit_emit_parts(plan, &c);
    c = of_product(plan, &big, 0, NULL, ORDINARY);
    c.big = true;
    kit_emit(plan, &c);
}

static void generate_matmul(kit_case *c, kit_rng *rng)
{
    for (uint32_t k = 1; k < 3; k++) {
        kit_tensor *t = &c->operand[k];
        for (int64_t i = 0; i < t->count; i++) {
            kit_set(t, i, c->kind == INTEGERS ? (double)(kit_below(rng, 9) - 4) : kit_normal(rng));
            if (c->kind == SPECIAL && kit_below(rng, 40) == 0)
                kit_set(t, i, kit_next(rng) & 1 ? (long double)NAN : (long double)INFINITY);
        }
    }
}

/* The matrix of operand k that goes with matrix `batch` of output 0; its first element. */
static int64_t matrix_of(const kit_case *c, uint32_t k, int64_t batch)
{
    const kit_tensor *out = &c->operand[0], *t = &c->operand[k];
    int64_t at = 0, scale = t->shape[t->ndim - 1] * t->shape[t->ndim - 2];
    for (int32_t a = out->ndim - 3, b = t->ndim - 3; b >= 0; a--, b--) {
        if (t->shape[b] > 1)
            at += batch % out->shape[a] * scale;
        scale *= t->shape[b];
        batch /= out->shape[a];
    }
    return at;
}

static void judge_matmul(const kit_case *c, kit_verdict *v)
{
    const kit_tensor *out = &c->operand[0], *a = kit_in(c, 0), *b = kit_in(c, 1);
    const kit_limit *limit = kit_limit_find(COLLET_OP_MATMUL, out->dtype, "value");
    int64_t m = out->shape[out->ndim - 2], n = out->shape[out->ndim - 1];
    int64_t inner = a->shape[a->ndim - 1];
    for (int64_t at = 0; at < out->count; at++) {
        int64_t i = at / n % m, j = at % n, batch = at / n / m;
        int64_t row = matrix_of(c, 1, batch) + i * inner, column = matrix_of(c, 2, batch) + j;
        long double sum = 0, magnitude = 0;
        for (int64_t k = 0; k < inner; k++) {
            long double term = kit_get(a, row + k) * kit_get(b, column + k * n);
            sum += term;
            magnitude += fabsl(term);
        }
        kit_near(c, v, 0, at, sum, magnitude, limit);
    }
}

const kit_op kit_linalg_ops[] = {
    {COLLET_OP_MATMUL, plan_matmul, generate_matmul, judge_matmul},
};
const size_t kit_linalg_op_count = sizeof kit_linalg_ops / sizeof *kit_linalg_ops;
