/* SPDX-License-Identifier: Apache-2.0 */
/* Divides the steps of a plan into programs that the op `evaluate` can run.
 * Tests: tests/core/test_expression.c */
#include "cut.h"

#include <stdlib.h>
#include <string.h>

#include "op/program.h"

/* The inputs, outputs and number of constants of a range of steps. */
typedef struct range {
    uint32_t in[COLLET_PROGRAM_INPUTS], out[COLLET_PROGRAM_OUTPUTS];
    uint32_t ins, outs, constants;
    int too_much; /* 1: too many inputs, constants or steps; a longer range has at least as many */
} range;

typedef struct cutter {
    plan *p;
    uint32_t outputs;
    uint32_t *user; /* the last step that uses each step; outputs: UINT32_MAX */
    uint32_t *seen; /* for each constant, the `stamp` of the last range that counted it */
    uint32_t stamp;
    int mixed; /* 1: a range may have steps that reduce, and steps of different shapes */
} cutter;

static int add_input(range *r, uint32_t id)
{
    for (uint32_t i = 0; i < r->ins; i++)
        if (r->in[i] == id)
            return 1;
    if (r->ins == COLLET_PROGRAM_INPUTS)
        return 0;
    r->in[r->ins++] = id;
    return 1;
}

/* Adds step `k` to a range that begins at `first`. */
static void add_step(cutter *c, range *r, uint32_t first, uint32_t k)
{
    const plan_step *s = &c->p->steps[k];
    for (uint32_t i = 0; i < s->inputs; i++) {
        uint32_t id = s->in[i], kind = PLAN_KIND(id);
        if (kind == PLAN_CONSTANT && c->seen[PLAN_INDEX(id)] != c->stamp) {
            c->seen[PLAN_INDEX(id)] = c->stamp;
            r->constants++;
        }
        if (kind == PLAN_INPUT || (kind == PLAN_STEP && PLAN_INDEX(id) < first))
            r->too_much |= !add_input(r, id);
    }
    r->too_much |= r->constants > COLLET_PROGRAM_CONSTANTS || k - first >= COLLET_PROGRAM_STEPS;
}

/* Sets the outputs of [first, end); 0: too many. */
static int find_outputs(const cutter *c, range *r, uint32_t first, uint32_t end)
{
    r->outs = 0;
    for (uint32_t k = first; k < end; k++)
        if (c->user[k] == UINT32_MAX || c->user[k] >= end) {
            if (r->outs == COLLET_PROGRAM_OUTPUTS)
                return 0;
            r->out[r->outs++] = k;
        }
    return 1;
}

/* Whether step `k` may be in a range from `first` on. The values of a piece have one shape, and a step that reduces is a
 * piece of its own, which is run as a single op. */
static int may_join(const cutter *c, uint32_t first, uint32_t k)
{
    const plan_step *steps = c->p->steps;
    if (c->mixed || !c->p->reductions || k == first)
        return 1;
    if (program_is_reduction(steps[first].op) || program_is_reduction(steps[k].op))
        return 0;
    while (first < k && (steps[first].shape == PROGRAM_NUMBER || steps[k].shape == PROGRAM_NUMBER))
        first++;
    return steps[first].shape == steps[k].shape;
}

/* The longest range from `first` on that fits into a program; a single step always fits. */
static uint32_t longest(cutter *c, uint32_t first, range *best)
{
    range r = {0};
    uint32_t end = first;
    c->stamp++;
    for (uint32_t k = first; k < c->p->step_count && may_join(c, first, k); k++) {
        add_step(c, &r, first, k);
        if (r.too_much)
            break;
        if (find_outputs(c, &r, first, k + 1)) {
            *best = r;
            end = k + 1;
        }
    }
    return end;
}

static uint64_t mix(uint64_t hash, const void *bytes, size_t count)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ at[i]) * 0x100000001b3u;
    return hash;
}

uint64_t plan_hash(const collet_program *p)
{
    const uint32_t numbers[] = {p->n_in, p->n_constants, p->n_steps, p->n_out, p->reduce};
    uint64_t hash = mix(0xcbf29ce484222325u, numbers, sizeof numbers);
    hash = mix(hash, p->dtypes, (p->n_in + p->n_constants) * sizeof *p->dtypes);
    hash = mix(hash, p->steps, (size_t)p->n_steps * p->step_size);
    return mix(hash, p->outs, p->n_out * sizeof *p->outs);
}

/* The number that a value of the plan has in the piece's program; if the value is a constant, adds it to the
 * program's constants. */
static uint16_t local(plan_piece *piece, const range *r, uint32_t id)
{
    uint32_t k = 0;
    if (PLAN_KIND(id) == PLAN_CONSTANT) {
        while (k < piece->program.n_constants && piece->constant[k] != PLAN_INDEX(id))
            k++;
        if (k == piece->program.n_constants)
            piece->constant[piece->program.n_constants++] = PLAN_INDEX(id);
        return (uint16_t)(r->ins + k);
    }
    if (PLAN_KIND(id) == PLAN_STEP && PLAN_INDEX(id) >= piece->first)
        return (uint16_t)(r->ins + r->constants + PLAN_INDEX(id) - piece->first);
    while (r->in[k] != id)
        k++;
    return (uint16_t)k;
}

static collet_dtype dtype_of(const plan *p, uint32_t id)
{
    uint32_t k = PLAN_INDEX(id);
    return PLAN_KIND(id) == PLAN_INPUT      ? p->in_dtypes[k]
           : PLAN_KIND(id) == PLAN_CONSTANT ? p->constants[k].dtype
                                            : p->steps[k].dtype;
}

static int fill_piece(const plan *p, plan_piece *piece, const range *r)
{
    uint32_t steps = piece->end - piece->first;
    piece->dtypes = calloc(r->ins + r->constants + 1u, sizeof *piece->dtypes);
    piece->steps = calloc(steps + 1u, sizeof *piece->steps);
    piece->constant = calloc(r->constants + 1u, sizeof *piece->constant);
    piece->values = calloc(r->constants + 1u, sizeof *piece->values);
    if (!piece->dtypes || !piece->steps || !piece->constant || !piece->values)
        return 0;
    memcpy(piece->in, r->in, sizeof r->in);
    memcpy(piece->out, r->out, sizeof r->out);
    for (uint32_t k = 0; k < steps; k++) {
        const plan_step *s = &p->steps[piece->first + k];
        piece->program.n_reductions += (uint32_t)program_is_reduction(s->op);
        piece->steps[k].op = s->op;
        piece->steps[k].dtype = s->dtype;
        for (uint32_t i = 0; i < s->inputs; i++)
            piece->steps[k].in[i] = local(piece, r, s->in[i]);
    }
    for (uint32_t i = 0; i < r->ins; i++)
        piece->dtypes[i] = dtype_of(p, r->in[i]);
    for (uint32_t i = 0; i < r->constants; i++)
        piece->dtypes[r->ins + i] = p->constants[piece->constant[i]].dtype;
    for (uint32_t i = 0; i < r->outs; i++)
        piece->outs[i] = local(piece, r, PLAN_STEP | r->out[i]);
    return 1;
}

static void describe_piece(plan_piece *piece, const range *r, uint32_t reduce)
{
    piece->program = (collet_program){.struct_size = sizeof piece->program,
                                      .n_in = r->ins,
                                      .n_constants = piece->program.n_constants,
                                      .n_steps = piece->end - piece->first,
                                      .n_out = r->outs,
                                      .reduce = reduce,
                                      .n_reductions = piece->program.n_reductions,
                                      .step_size = sizeof *piece->steps,
                                      .constant_size = sizeof *piece->values,
                                      .dtypes = piece->dtypes,
                                      .steps = piece->steps,
                                      .outs = piece->outs};
    piece->program.hash = plan_hash(&piece->program);
}

/* A program that reduces has its outputs in the order of the expression's outputs. */
static void order_outputs(const plan *p, range *r)
{
    for (uint32_t k = 0; k < r->outs; k++)
        r->out[k] = p->outs[k];
}

static int add_piece(cutter *c, const graph *g, uint32_t first)
{
    plan *p = c->p;
    range r = {0};
    plan_piece *more = realloc(p->pieces, (p->piece_count + 1u) * sizeof *more);
    if (!more)
        return 0;
    p->pieces = more;
    plan_piece *piece = &more[p->piece_count++];
    *piece = (plan_piece){.first = first};
    piece->end = longest(c, first, &r);
    int whole = piece->end == p->step_count && r.outs == g->output_count;
    if (whole)
        order_outputs(p, &r);
    p->fused = whole && g->reduce && !program_is_reduction(p->steps[first].op);
    if (!fill_piece(p, piece, &r))
        return 0;
    describe_piece(piece, &r, p->fused ? g->reduce : COLLET_NO_OP);
    for (uint32_t i = 0; i < r.ins; i++)
        if (PLAN_KIND(r.in[i]) == PLAN_STEP)
            p->last[PLAN_INDEX(r.in[i])] = p->piece_count - 1;
    return 1;
}

/* Makes p->rows, if all steps fit into one program. 0: no memory. */
static int add_rows(cutter *c, const graph *g)
{
    plan *p = c->p;
    range r = {0};
    c->mixed = 1;
    uint32_t end = longest(c, 0, &r);
    c->mixed = 0;
    if (end != p->step_count || r.outs != g->output_count)
        return 1;
    p->rows = calloc(1, sizeof *p->rows);
    if (!p->rows)
        return 0;
    p->rows->end = end;
    order_outputs(p, &r);
    if (!fill_piece(p, p->rows, &r))
        return 0;
    describe_piece(p->rows, &r, COLLET_NO_OP);
    return 1;
}

static void find_users(cutter *c)
{
    const plan *p = c->p;
    for (uint32_t k = 0; k < p->step_count; k++)
        for (uint32_t i = 0; i < p->steps[k].inputs; i++)
            if (PLAN_KIND(p->steps[k].in[i]) == PLAN_STEP)
                c->user[PLAN_INDEX(p->steps[k].in[i])] = k;
    for (uint32_t k = 0; k < c->outputs; k++)
        c->user[p->outs[k]] = UINT32_MAX;
}

collet_status plan_cut(plan *p, const graph *g, collet_error *err)
{
    cutter c = {.p = p, .outputs = g->output_count};
    c.user = calloc(p->step_count + 1u, sizeof *c.user);
    c.seen = calloc(p->constant_count + 1u, sizeof *c.seen);
    p->last = calloc(p->step_count + 1u, sizeof *p->last);
    int good = c.user && c.seen && p->last;
    if (good)
        find_users(&c);
    if (good && p->reductions && p->step_count > 1 && !g->reduce)
        good = add_rows(&c, g);
    for (uint32_t first = 0; good && first < p->step_count;
         first = p->pieces[p->piece_count - 1].end)
        good = add_piece(&c, g, first);
    for (uint32_t i = 0; i < p->piece_count; i++)
        p->pieces[i].program.outs = p->pieces[i].outs; /* realloc has moved p->pieces */
    for (uint32_t k = 0; good && k < g->output_count; k++)
        p->last[p->outs[k]] = p->piece_count; /* outputs are kept */
    free(c.user);
    free(c.seen);
    return good ? COLLET_OK : collet_fail(err, COLLET_NO_MEMORY, "out of memory for an expression");
}
