/* SPDX-License-Identifier: Apache-2.0 */
/* array: transpose.
 * Tests: tests/conformance/test_broken.c */
#include "kit.h"

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
    {2, {257, 700}, {1, 0}},
    {2, {1300, 63}, {1, 0}},
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
    /* Outer axes that do not merge around matrices large enough for tiles. */
    {5, {3, 4, 2, 20, 30}, {1, 0, 2, 4, 3}},
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
    static const permuted lines[] = {{2, {64, 64}, {1, 0}}, {3, {2, 70, 128}, {0, 2, 1}}};
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
    /* Rows that are as long as whole cache lines but do not begin at a cache line. */
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        kit_case c = transposed(plan, &lines[i]);
        c.layout[0] = KIT_WITHIN;
        kit_emit(plan, &c);
        c.layout[1] = KIT_WITHIN;
        kit_emit(plan, &c);
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

const kit_op kit_array_axes_ops[] = {
    {COLLET_OP_TRANSPOSE, plan_transpose, generate_transpose, judge_transpose},
    {0},
};
