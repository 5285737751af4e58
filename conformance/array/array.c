/* SPDX-License-Identifier: Apache-2.0 */
/* array: the plans of elementwise ops, and the ops that move elements.
 * Tests: tests/conformance/test_broken.c, tests/conformance/defects.sh */
#include "array.h"

#include <string.h>

static const char *const kind_names[] = {"", "special values", "random bits", "edges of the range",
                                         "a scalar at the edges of its range"};

/* ---- Plans --------------------------------------------------------------------------------- */

typedef struct shape {
    int32_t ndim;
    int64_t extent[COLLET_MAX_DIMS];
} shape;

/* Lengths around vector widths, and lengths that are no multiple of a vector width. */
static const int64_t lengths[] = {0,  1,  2,  3,  4,  5,   7,   8,   9,   15,   16,   17,  31,
                                  32, 33, 63, 64, 65, 127, 129, 255, 257, 1000, 1023, 4099};
static const int64_t few_lengths[] = {0, 1, 2, 3, 8, 15, 17, 33, 64, 257, 4099};

static const shape shapes[] = {
    {0, {0}},
    {1, {1}},
    {1, {19}},
    {2, {3, 5}},
    {2, {17, 33}},
    {2, {0, 3}},
    {3, {3, 0, 2}},
    {3, {7, 1, 4}},
    {4, {2, 3, 4, 5}},
    {4, {1, 1, 1, 1}},
    {5, {2, 3, 1, 4, 3}},
    {8, {2, 1, 3, 1, 2, 2, 1, 3}},
};
static const shape few_shapes[] = {
    {0, {0}}, {1, {19}}, {2, {9, 7}}, {2, {0, 3}}, {4, {2, 3, 4, 5}}};

/* Shapes of the output and of inputs that broadcast to it. */
static const shape broadcasts[][3] = {
    {{2, {4, 5}}, {2, {4, 5}}, {1, {5}}},
    {{2, {4, 5}}, {2, {4, 1}}, {2, {1, 5}}},
    {{2, {4, 5}}, {0, {0}}, {2, {4, 5}}},
    {{3, {2, 3, 4}}, {2, {3, 1}}, {3, {2, 1, 4}}},
    {{2, {0, 4}}, {2, {1, 4}}, {2, {0, 1}}},
    {{3, {3, 2, 257}}, {1, {257}}, {3, {3, 2, 1}}},
    {{1, {33}}, {1, {1}}, {1, {33}}},
    {{1, {33}}, {1, {33}}, {0, {0}}},
    {{4, {2, 3, 4, 5}}, {4, {2, 1, 4, 1}}, {3, {3, 1, 5}}},
};

static kit_case of_shape(const kit_plan *plan, const shape *s, int kind)
{
    kit_case c = kit_case_of(plan);
    c.kind = kind;
    c.data = kind_names[kind];
    for (uint32_t k = 0; k < plan->row->operands; k++)
        kit_shape(&c, k, s->ndim, s->extent);
    return c;
}

static void plan_lengths(kit_plan *plan, const int64_t *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        shape s = {1, {list[i]}};
        for (int kind = ORDINARY; kind <= EDGES; kind++) {
            kit_case c = of_shape(plan, &s, kind);
            if (list[i] < 15 && kind != ORDINARY)
                continue;
            kit_emit(plan, &c);
            for (uint32_t k = 0; k < plan->row->operands; k++)
                c.layout[k] = KIT_UNALIGNED;
            if (kind == ORDINARY)
                kit_emit(plan, &c);
        }
    }
}

static void plan_shapes(kit_plan *plan, const shape *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        kit_case c = of_shape(plan, &list[i], i % 2 ? SPECIAL : ORDINARY);
        kit_emit_layouts(plan, &c);
    }
}

/* Inputs that broadcast against each other to the output's shape. */
static void plan_broadcasts(kit_plan *plan)
{
    for (size_t i = 0; i < sizeof broadcasts / sizeof *broadcasts; i++) {
        kit_case c = of_shape(plan, &broadcasts[i][0], ORDINARY);
        for (uint32_t k = 1; k < plan->row->operands; k++)
            kit_shape(&c, k, broadcasts[i][k].ndim, broadcasts[i][k].extent);
        kit_emit(plan, &c);
        for (uint32_t k = 0; k < plan->row->operands; k++)
            c.layout[k] = KIT_MIXED;
        kit_emit(plan, &c);
        kit_emit_parts(plan, &c);
    }
}

static void plan_common(kit_plan *plan)
{
    static const shape shared[] = {{0, {0}}, {1, {2}}, {1, {65}}, {1, {1000}}, {2, {5, 8}}};
    static const shape cut[] = {{1, {2}}, {1, {1000}}, {2, {7, 6}}, {3, {5, 1, 3}}};
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++) {
        kit_case c = of_shape(plan, &shared[i], i % 2 ? SPECIAL : ORDINARY);
        kit_emit_sharing(plan, &c);
    }
    for (size_t i = 0; i < sizeof cut / sizeof *cut; i++) {
        kit_case c = of_shape(plan, &cut[i], ORDINARY);
        kit_emit_parts(plan, &c);
    }
}

static void plan_big(kit_plan *plan)
{
    static const shape flat = {1, {(1 << 19) + 3}}, folded = {2, {513, 1025}};
    kit_case c = of_shape(plan, &flat, ORDINARY);
    c.big = true;
    kit_emit(plan, &c);
    c = of_shape(plan, &folded, ORDINARY);
    c.big = true;
    for (uint32_t k = 0; k < plan->row->operands; k++)
        c.layout[k] = k == 0 ? KIT_DENSE : KIT_TRANSPOSED;
    kit_emit(plan, &c);
}

void kit_plan_elementwise(kit_plan *plan)
{
    plan_lengths(plan, lengths, sizeof lengths / sizeof *lengths);
    plan_shapes(plan, shapes, sizeof shapes / sizeof *shapes);
    if (plan->row->info.n_in == 2)
        plan_broadcasts(plan);
    plan_common(plan);
    plan_big(plan);
}

/* fill and copy have many similar rows: fewer cases each. */
static void plan_moves(kit_plan *plan)
{
    bool floats = true;
    for (uint32_t k = 0; k < plan->row->operands; k++)
        floats = floats && kit_precision(plan->row->dtypes[k]) >= 24;
    plan_lengths(plan, few_lengths, sizeof few_lengths / sizeof *few_lengths);
    plan_shapes(plan, few_shapes, sizeof few_shapes / sizeof *few_shapes);
    plan_common(plan);
    if (floats)
        plan_big(plan);
}

/* ---- Scalars ------------------------------------------------------------------------------- */

void kit_plan_scalars(kit_plan *plan, collet_scalar *(*scalar)(kit_case *c))
{
    static const shape few = {1, {3}};
    collet_dtype to = plan->row->dtypes[0];
    for (collet_dtype from = 1; from < COLLET_DTYPE_COUNT; from++) {
        if (kit_part(from) != from && kit_part(to) == to)
            continue;
        for (int64_t i = 0; i < kit_edge_count(from); i++) {
            kit_case c = of_shape(plan, &few, SCALAR);
            *scalar(&c) = kit_edge_scalar(from, i);
            kit_emit(plan, &c);
        }
    }
}

static collet_scalar *fill_scalar(kit_case *c)
{
    c->params.fill.struct_size = sizeof c->params.fill;
    return &c->params.fill.value;
}

static void plan_fill(kit_plan *plan)
{
    plan_moves(plan);
    kit_plan_scalars(plan, fill_scalar);
}

/* ---- Values -------------------------------------------------------------------------------- */

void kit_generate_any(kit_case *c, kit_rng *rng)
{
    for (uint32_t k = c->row->info.n_out; k < c->row->operands; k++) {
        kit_tensor *t = &c->operand[k];
        if (c->kind == EDGES)
            kit_edges(t, k - c->row->info.n_out);
        else if (c->kind == BITS)
            kit_random_bits(t, rng);
        else
            kit_ordinary(t, rng, 12);
        if (c->kind == SPECIAL)
            kit_sprinkle_specials(t, rng);
    }
}

static void generate_fill(kit_case *c, kit_rng *rng)
{
    const kit_tensor *out = &c->operand[0];
    if (c->kind == SCALAR)
        return;
    bool complex = kit_part(out->dtype) != out->dtype;
    collet_dtype given = out->dtype;
    /* Ordinary cases use only the output's dtype: the sample (sample.c) consists of them, and a
     * backend may refuse a value of another dtype. */
    while (!complex && c->kind != ORDINARY && kit_next(rng) & 1) {
        given = 1 + (collet_dtype)kit_below(rng, COLLET_DTYPE_COUNT - 1);
        if (kit_part(given) == given)
            break;
        given = out->dtype;
    }
    collet_fill_params *p = &c->params.fill;
    memset(p, 0, sizeof *p);
    p->struct_size = sizeof *p;
    p->value.dtype = given;
    kit_tensor value = {.dtype = given, .count = 1, .data = p->value.value.bytes};
    if (c->kind == BITS || c->kind == EDGES)
        kit_random_bits(&value, rng);
    else
        kit_ordinary(&value, rng, 12);
    if (c->kind == SPECIAL)
        kit_sprinkle_specials(&value, rng);
}

/* ---- The oracle ---------------------------------------------------------------------------- */

static void judge_fill(const kit_case *c, kit_verdict *v)
{
    const kit_tensor *out = &c->operand[0];
    collet_dtype part = kit_part(out->dtype);
    kit_tensor value = {.dtype = c->params.fill.value.dtype,
                        .count = 1,
                        .data = (unsigned char *)(uintptr_t)c->params.fill.value.value.bytes};
    unsigned char ideal[2][16];
    /* The imaginary part of a real value is 0. */
    for (int64_t i = 0; i < 2; i++)
        kit_convert(part, i < kit_parts(&value) ? kit_get(&value, i) : 0, ideal[i]);
    for (int64_t i = 0; i < kit_parts(out); i++)
        kit_same(c, v, 0, i, ideal[part == out->dtype ? 0 : i % 2], false);
}

int64_t kit_source(const kit_case *c, uint32_t k, int64_t i)
{
    return kit_in(c, k)->count == c->operand[0].count
               ? i
               : kit_start(c, c->row->info.n_out + k, 0, 0, i);
}

static void judge_copy(const kit_case *c, kit_verdict *v)
{
    const kit_tensor *out = &c->operand[0], *in = kit_in(c, 0);
    collet_dtype part = kit_part(out->dtype);
    int64_t halves = part == out->dtype ? 1 : 2, parts = kit_part(in->dtype) == in->dtype ? 1 : 2;
    unsigned char ideal[16];
    for (int64_t i = 0; i < kit_parts(out); i++) {
        int64_t from = kit_source(c, 0, i / halves) * parts;
        if (i % halves < parts) /* a real number has the imaginary part 0 */
            kit_convert(part, kit_get(in, from + i % halves), ideal);
        else
            kit_convert(part, 0, ideal);
        if (halves < parts) /* complex to bool: true if a part is not 0 */
            ideal[0] = kit_get(in, from) != 0 || kit_get(in, from + 1) != 0;
        if (in->dtype == out->dtype)
            memcpy(ideal, kit_at(in, from + i % halves), collet_dtype_size(part));
        kit_same(c, v, 0, i, ideal, in->dtype == out->dtype);
    }
}

const kit_op kit_array_ops[] = {
    {COLLET_OP_FILL, plan_fill, generate_fill, judge_fill},
    {COLLET_OP_COPY, plan_moves, kit_generate_any, judge_copy},
    {0},
};
