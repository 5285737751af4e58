/* SPDX-License-Identifier: Apache-2.0 */
/* linalg: matmul, judged relative to the sum of |products|; i8: exact modulo 2^32.
 * Tests: tests/conformance/test_broken.c */
#include "matrices.h"

#include <math.h>

enum { ORDINARY, SPECIAL, INTEGERS, WIDE, OVERFLOWING };
static const char *const kind_names[] = {"", "special values", "small integers", "wide exponents",
                                         "sums beyond 32 bits"};

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
    static const product p = {3, 4, 5}, large = {36, 40, 20}; /* for a library's batches */
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
    c = of_product(plan, &large, 2, two, ORDINARY);
    kit_emit_layouts(plan, &c);
    for (uint32_t k = 1; k < 3; k++) {
        set_batch(&c, 1, large.m, large.k, k == 1 ? 0 : 2, two);
        set_batch(&c, 2, large.k, large.n, k == 2 ? 0 : 2, two);
        kit_emit(plan, &c);
    }
}

/* Extents beyond the block sizes of kernels; i8 sums that overflow i32. */
static void plan_big(kit_plan *plan)
{
    static const product products[] = {{389, 3, 1031}, {3, 1061, 1031}, {111, 105, 93}};
    static const product overflowing = {2, 3, 140001};
    for (size_t i = 0; i < sizeof products / sizeof *products; i++) {
        kit_case c = of_product(plan, &products[i], 0, NULL, ORDINARY);
        c.big = true;
        kit_emit(plan, &c);
        c.layout[1] = c.layout[2] = KIT_TRANSPOSED;
        kit_emit(plan, &c);
    }
    if (plan->row->dtypes[1] == COLLET_I8) {
        kit_case c = of_product(plan, &overflowing, 0, NULL, OVERFLOWING);
        kit_emit(plan, &c);
    }
}

/* Products with one row or column, for which kernels may read the matrix without packing. The
 * extents leave remainders of wide vectors. */
static void plan_vectors(kit_plan *plan)
{
    static const product products[] = {{37, 1, 255}, {1, 37, 319}, {3, 1, 192}, {1, 5, 449}};
    for (size_t i = 0; i < sizeof products / sizeof *products; i++) {
        kit_case c = of_product(plan, &products[i], 0, NULL, ORDINARY);
        kit_emit(plan, &c);
        c.layout[1] = KIT_ROWS;
        kit_emit(plan, &c);
        c.layout[1] = KIT_DENSE;
        c.layout[2] = KIT_TRANSPOSED;
        kit_emit(plan, &c);
    }
}

static void plan_matmul(kit_plan *plan)
{
    static const product products[] = {
        {1, 1, 1},    {2, 3, 4},    {1, 7, 5},     {9, 1, 5},    {5, 6, 1},    {7, 5, 3},
        {8, 8, 8},    {16, 17, 9},  {33, 31, 65},  {64, 64, 64}, {3, 129, 40}, {100, 3, 257},
        {0, 3, 4},    {3, 0, 4},    {3, 4, 0},     {0, 0, 0},    {2, 2, 4099}, {130, 70, 1},
        {1, 257, 33}, {257, 1, 33}, {400, 10, 12}, {5, 40, 300},
    };
    static const product strided[] = {{5, 7, 4}, {17, 9, 33}, {1, 6, 3}, {6, 1, 3}, {1, 1, 5}};
    static const product square = {6, 6, 6}, cut = {11, 4, 6};
    for (size_t i = 0; i < sizeof products / sizeof *products; i++) {
        for (int kind = ORDINARY; kind <= WIDE; kind++) {
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
    plan_big(plan);
    plan_vectors(plan);
}

static void fill_i8(kit_tensor *t, int kind, kit_rng *rng)
{
    kit_random_bits(t, rng);
    for (int64_t i = 0; i < t->count && kind != ORDINARY; i++)
        kit_set(t, i,
                kind == OVERFLOWING ? -128
                : kind == INTEGERS  ? (double)(kit_below(rng, 9) - 4)
                                    : (kit_next(rng) & 1 ? -128 : 127));
}

/* Subnormal and small numbers times large numbers, so that all products matter. */
static void fill_wide(kit_tensor *t, int small, kit_rng *rng)
{
    int minimum = t->dtype == COLLET_F16 ? -14 : kit_part(t->dtype) == COLLET_F64 ? -1022 : -126;
    for (int64_t i = 0; i < kit_parts(t); i++) {
        int exponent = (int)kit_below(rng, 12) + (small ? minimum - 4 : -minimum - 14);
        kit_set(t, i, ldexpl(kit_normal(rng), exponent));
    }
}

static void generate_matmul(kit_case *c, kit_rng *rng)
{
    for (uint32_t k = 1; k < 3; k++) {
        kit_tensor *t = &c->operand[k];
        if (t->dtype == COLLET_I8) {
            fill_i8(t, c->kind, rng);
            continue;
        }
        if (c->kind == WIDE) {
            fill_wide(t, (c->number + (int)k) % 2, rng);
            continue;
        }
        for (int64_t i = 0; i < kit_parts(t); i++) {
            kit_set(t, i, c->kind == INTEGERS ? (double)(kit_below(rng, 9) - 4) : kit_normal(rng));
            if (c->kind == SPECIAL && kit_below(rng, 40) == 0)
                kit_set(t, i, kit_next(rng) & 1 ? (long double)NAN : (long double)INFINITY);
        }
    }
}

static void judge_i8(const kit_case *c, kit_verdict *v, int64_t at, int64_t row, int64_t column,
                     int64_t n, int64_t inner)
{
    uint32_t sum = 0;
    for (int64_t k = 0; k < inner; k++)
        sum += (uint32_t)((int32_t)kit_get(kit_in(c, 0), row + k) *
                          (int32_t)kit_get(kit_in(c, 1), column + k * n));
    kit_same(c, v, 0, at, &sum, true);
}

static void judge_matmul(const kit_case *c, kit_verdict *v)
{
    const kit_tensor *out = &c->operand[0], *a = kit_in(c, 0), *b = kit_in(c, 1);
    const kit_limit *limit = kit_limit_find(COLLET_OP_MATMUL, kit_part(out->dtype), "value");
    int parts = kit_part(out->dtype) == out->dtype ? 1 : 2;
    int64_t m = out->shape[out->ndim - 2], n = out->shape[out->ndim - 1];
    int64_t inner = a->shape[a->ndim - 1];
    for (int64_t at = 0; at < out->count; at++) {
        int64_t i = at / n % m, j = at % n, batch = at / n / m;
        int64_t row = kit_start(c, 1, 2, 2, batch) + i * inner,
                column = kit_start(c, 2, 2, 2, batch) + j;
        if (out->dtype == COLLET_I32) {
            judge_i8(c, v, at, row, column, n, inner);
            continue;
        }
        real sum[2] = {0}, magnitude[2] = {0};
        for (int64_t k = 0; k < inner * parts; k++)
            kit_add_term(a, row + k / parts, b, column + k / parts * n, (int)(k % parts),
                         &sum[k % parts], &magnitude[k % parts]);
        for (int part = 0; part < parts; part++) {
            bool may_be_nan = parts == 2 && !(isfinite(sum[0]) && isfinite(sum[1]));
            if (may_be_nan && isnan(kit_get(out, parts * at + part)))
                continue;
            kit_near(c, v, 0, parts * at + part, sum[part], magnitude[part], limit);
        }
    }
}

const kit_op kit_linalg_ops[] = {
    {COLLET_OP_MATMUL, plan_matmul, generate_matmul, judge_matmul},
    {0},
};
