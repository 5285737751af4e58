/* SPDX-License-Identifier: Apache-2.0 */
/* The dtypes of an expression's values.
 * Tests: tests/core/test_expression.c */
#include "plan.h"

#include <stdlib.h>
#include <string.h>

#include "cut.h"
#include "literal.h"
#include "op/elementwise.h"
#include "op/program.h"
#include "power.h"

/* A value of the graph: its number, its dtype; weak: it adapts to others. */
typedef struct typed {
    uint32_t id;
    collet_dtype dtype;
    int weak;
} typed;

typedef struct compiler {
    plan *p;
    const graph *g;
    typed *values; /* of the nodes */
    uint32_t node; /* in work */
    collet_error *err;
} compiler;

static int is_complex(collet_dtype d)
{
    return d == COLLET_C64 || d == COLLET_C128;
}

static int is_float(collet_dtype d)
{
    return d == COLLET_F16 || d == COLLET_BF16 || d == COLLET_F32 || d == COLLET_F64;
}

static collet_status no_memory(compiler *c)
{
    return collet_fail(c->err, COLLET_NO_MEMORY, "out of memory for an expression");
}

/* ---- Values ------------------------------------------------------------------------------ */

/* Room for one more element. */
static int room(void **array, uint32_t count, uint32_t *capacity, size_t size)
{
    if (count < *capacity)
        return 1;
    void *more = realloc(*array, (*capacity ? 2 * (size_t)*capacity : 32) * size);
    if (!more)
        return 0;
    *array = more;
    *capacity = *capacity ? 2 * *capacity : 32;
    return 1;
}

static collet_status constant(compiler *c, uint32_t origin, collet_dtype dtype, typed *out)
{
    plan *p = c->p;
    uint32_t k = 0;
    while (k < p->constant_count &&
           (p->constants[k].node != origin || p->constants[k].dtype != dtype))
        k++;
    if (k == p->constant_count) {
        if (!room((void **)&p->constants, k, &p->constant_capacity, sizeof *p->constants))
            return no_memory(c);
        p->constants[p->constant_count++] = (plan_constant){origin, dtype};
    }
    *out = (typed){PLAN_CONSTANT | k, dtype, 0};
    return COLLET_OK;
}

/* Conversions repeat; a graph has no other equal steps. */
static int same_conversion(const plan_step *a, const plan_step *b)
{
    return a->op == b->op && a->dtype == b->dtype && !memcmp(a->in, b->in, sizeof a->in);
}

#define SEARCHED 64 /* steps back */

static collet_status emit(compiler *c, uint32_t op, collet_dtype dtype, const uint32_t *in,
                          uint32_t inputs, typed *out)
{
    plan *p = c->p;
    plan_step s = {.op = op, .inputs = inputs, .dtype = dtype};
    memcpy(s.in, in, inputs * sizeof *in);
    uint32_t k = p->step_count;
    for (uint32_t back = 0; back < SEARCHED && back < p->step_count; back++)
        if (same_conversion(&p->steps[p->step_count - 1 - back], &s))
            k = p->step_count - 1 - back;
    if (k == p->step_count) {
        if (!room((void **)&p->steps, k, &p->step_capacity, sizeof *p->steps))
            return no_memory(c);
        p->steps[p->step_count++] = s;
    }
    *out = (typed){PLAN_STEP | k, dtype, 0};
    return COLLET_OK;
}

/* The node of a constant that is not converted yet; PLAN_ZERO: it is none. */
static uint32_t node_of_constant(const compiler *c, const typed *v)
{
    uint32_t k =
        PLAN_KIND(v->id) == PLAN_CONSTANT ? c->p->constants[PLAN_INDEX(v->id)].node : PLAN_ZERO;
    if (k == PLAN_ZERO)
        return k;
    const node *n = &c->g->nodes[k];
    collet_dtype own = n->kind != NODE_INPUT ? n->value.dtype
                       : n->dtype            ? n->dtype
                                             : c->p->in_dtypes[n->op] & ~PLAN_NUMBER;
    return v->dtype == own ? k : PLAN_ZERO;
}

static collet_status convert(compiler *c, const typed *v, collet_dtype dtype, typed *out)
{
    *out = *v;
    out->weak = 0;
    if (v->dtype == dtype)
        return COLLET_OK;
    if (node_of_constant(c, v) != PLAN_ZERO)
        return constant(c, node_of_constant(c, v), dtype, out);
    if (program_converts(dtype, v->dtype))
        return emit(c, COLLET_OP_COPY, dtype, &v->id, 1, out);
    return collet_fail(c->err, COLLET_DTYPE, "%s cannot be converted to %s; take real() or imag()",
                       collet_dtype_name(v->dtype), collet_dtype_name(dtype));
}

/* ---- Promotion --------------------------------------------------------------------------- */

/* The dtype of a weak operand of dtype `w` together with others of dtype `d`. */
static collet_dtype with_weak(collet_dtype d, collet_dtype w)
{
    if (d == COLLET_BOOL)
        return w;
    if (w == COLLET_C128 && !is_complex(d))
        return d == COLLET_F16 || d == COLLET_BF16 || d == COLLET_F32 ? COLLET_C64 : COLLET_C128;
    return w == COLLET_F64 && !is_float(d) && !is_complex(d) ? COLLET_F64 : d;
}

/* The dtype of operands together. */
static typed common(const typed *in, uint32_t count)
{
    typed all = {0};
    collet_dtype weak = COLLET_DTYPE_NONE;
    for (uint32_t i = 0; i < count; i++) {
        collet_dtype *mine = in[i].weak ? &weak : &all.dtype;
        *mine = *mine ? collet_dtype_promote(*mine, in[i].dtype) : in[i].dtype;
    }
    all.weak = !all.dtype;
    if (weak)
        all.dtype = all.weak ? weak : with_weak(all.dtype, weak);
    return all;
}

/* ---- Functions --------------------------------------------------------------------------- */

/* What NumPy has for bools. */
static uint32_t logical_op(uint32_t op)
{
    return op == COLLET_OP_ADD || op == COLLET_OP_MAXIMUM   ? COLLET_OP_LOGICAL_OR
           : op == COLLET_OP_MUL || op == COLLET_OP_MINIMUM ? COLLET_OP_LOGICAL_AND
                                                            : op;
}

static int takes(uint32_t op, collet_dtype d)
{
    return elementwise_result(elementwise_of(op), d) != COLLET_DTYPE_NONE;
}

/* The dtype, from `d` up, that the function takes; COLLET_DTYPE_NONE: none. */
static collet_dtype taken(uint32_t op, collet_dtype d)
{
    int small = d == COLLET_BOOL || collet_dtype_size(d) == 1;
    if (takes(op, d))
        return d;
    if (d == COLLET_BOOL && (op == COLLET_OP_SUB || op == COLLET_OP_NEG || op == COLLET_OP_SIGN ||
                             op == COLLET_OP_CLIP))
        return COLLET_DTYPE_NONE;
    if (d == COLLET_BOOL && takes(op, COLLET_I8))
        return COLLET_I8;
    if (!is_complex(d) && takes(op, COLLET_F64)) {
        int half = is_float(d);
        if (op == COLLET_OP_DIV && !half)
            return COLLET_F64;
        if (small && takes(op, COLLET_F16))
            return COLLET_F16;
        return half || collet_dtype_size(d) <= 2 ? COLLET_F32 : COLLET_F64;
    }
    return takes(op, COLLET_BOOL) && elementwise_of(op)->result == ELEMENTWISE_SAME &&
                   !takes(op, COLLET_I8)
               ? COLLET_BOOL
               : COLLET_DTYPE_NONE;
}

/* 1 if the function returns operands of this dtype as they are. */
static int is_identity(uint32_t op, collet_dtype d)
{
    int whole = !is_float(d) && !is_complex(d);
    switch (op) {
    case COLLET_OP_FLOOR:
    case COLLET_OP_CEIL:
    case COLLET_OP_TRUNC:
    case COLLET_OP_ROUND:
        return whole;
    case COLLET_OP_ABS:
        return d == COLLET_BOOL;
    case COLLET_OP_CONJ:
    case COLLET_OP_REAL:
        return !is_complex(d);
    default:
        return 0;
    }
}

static collet_status emit_power(compiler *c, const typed *x, const power_step *steps,
                                uint32_t count, typed *out)
{
    typed values[POWER_STEPS + 1] = {*x};
    collet_status status = COLLET_OK;
    for (uint32_t i = 0; i < count && status == COLLET_OK; i++) {
        const power_step *s = &steps[i];
        const uint32_t in[] = {values[s->in[0]].id, values[s->in[1]].id};
        status = emit(c, s->op, x->dtype, in, s->inputs, &values[i + 1]);
    }
    *out = values[count];
    return status;
}

static collet_status bad_dtype(const compiler *c, const elementwise *e, collet_dtype d)
{
    return collet_fail(c->err, COLLET_DTYPE, "%s does not take %s", e->name, collet_dtype_name(d));
}

static collet_status type_apply(compiler *c, const node *n, typed *out)
{
    const elementwise *e = elementwise_of(n->op);
    uint32_t first = e->result == ELEMENTWISE_SELECT, ids[3] = {0};
    power_step steps[POWER_STEPS];
    typed in[3];
    for (uint32_t i = 0; i < n->count; i++)
        in[i] = c->values[n->in[i]];
    typed all = common(in + first, n->count - first);
    if (all.dtype == COLLET_BOOL)
        e = elementwise_of(logical_op(e->op));
    if (is_identity(e->op, all.dtype)) {
        *out = in[0];
        return COLLET_OK;
    }
    if (e->op == COLLET_OP_IMAG && !is_complex(all.dtype))
        return constant(c, PLAN_ZERO, all.dtype, out);
    collet_dtype dtype = taken(e->op, all.dtype);
    if (!dtype)
        return bad_dtype(c, e, all.dtype);
    for (uint32_t i = 0; i < n->count; i++) {
        collet_status status = convert(c, &in[i], elementwise_operand(e, dtype, i), &in[i]);
        if (status != COLLET_OK)
            return status;
        ids[i] = in[i].id;
    }
    const node *last = &c->g->nodes[n->in[n->count - 1]];
    uint32_t count = 0;
    if (e->op == COLLET_OP_POW && last->kind == NODE_LITERAL)
        count = power_steps(steps, &last->value, dtype);
    collet_status status = count ? emit_power(c, &in[0], steps, count, out)
                                 : emit(c, e->op, elementwise_result(e, dtype), ids, n->count, out);
    out->weak = all.weak && out->dtype != COLLET_BOOL;
    return status;
}

static collet_status type_node(compiler *c, const node *n, typed *out)
{
    const graph *g = c->g;
    collet_dtype d;
    switch (n->kind) {
    case NODE_INPUT:
        d = c->p->in_dtypes[n->op];
        if (d & PLAN_NUMBER) {
            collet_dtype weak = d & ~PLAN_NUMBER;
            collet_status status = constant(c, c->node, n->dtype ? n->dtype : weak, out);
            out->weak = !n->dtype && weak != COLLET_BOOL;
            return status;
        }
        if (n->dtype && n->dtype != d)
            return collet_fail(c->err, COLLET_DTYPE, "input %u (%s) is %s; it must be %s", n->op,
                               g->names[n->op], collet_dtype_name(d), collet_dtype_name(n->dtype));
        *out = (typed){PLAN_INPUT | n->op, d, 0};
        return COLLET_OK;
    case NODE_CONSTANT:
    case NODE_LITERAL: {
        collet_status status = constant(c, c->node, n->value.dtype, out);
        out->weak = n->weak;
        return status;
    }
    case NODE_APPLY:
        return type_apply(c, n, out);
    case NODE_LIKE:
        d = c->values[n->in[1]].dtype;
        *out = c->values[n->in[0]];
        return is_float(d) || (is_complex(d) && !is_complex(out->dtype)) || is_complex(d)
                   ? convert(c, &c->values[n->in[0]], d, out)
                   : COLLET_OK;
    default:
        return convert(c, &c->values[n->in[0]], n->dtype, out);
    }
}

/* ---- Outputs ----------------------------------------------------------------------------- */

/* The dtype that a reduction takes of values of dtype `d`: a wider one if it has no kernel for it,
 * unless the result would have another dtype than the values. */
static collet_dtype reducible(uint32_t op, collet_dtype d)
{
    collet_dtype wide[] = {d, COLLET_I64, COLLET_F64};
    int exact = op != COLLET_OP_MIN && op != COLLET_OP_MAX;
    if (d == COLLET_U8 || d == COLLET_U16 || d == COLLET_U32)
        wide[1] = COLLET_U64;
    if (is_float(d))
        wide[1] = d == COLLET_F64 ? COLLET_F64 : COLLET_F32;
    for (uint32_t i = 0; i < (exact && !is_complex(d) ? 3 : 1); i++)
        if (program_reduced(op, wide[i], COLLET_DTYPE_NONE))
            return wide[i];
    return COLLET_DTYPE_NONE;
}

/* Each output is a step of its own, so that a program can write it. */
static collet_status type_output(compiler *c, uint32_t k)
{
    plan *p = c->p;
    typed v = c->values[c->g->outputs[k]], to = v;
    collet_dtype dtype = v.dtype;
    if (c->g->reduce) {
        dtype = reducible(c->g->reduce, v.dtype);
        if (!dtype)
            return collet_fail(c->err, COLLET_DTYPE, "%s of output %u does not take %s",
                               program_reduction_name(c->g->reduce), k, collet_dtype_name(v.dtype));
    }
    collet_status status = convert(c, &v, dtype, &to);
    if (status != COLLET_OK)
        return status;
    int taken_already = PLAN_KIND(to.id) != PLAN_STEP;
    for (uint32_t i = 0; i < k; i++)
        taken_already |= to.id == (PLAN_STEP | p->outs[i]);
    if (taken_already) {
        if (!room((void **)&p->steps, p->step_count, &p->step_capacity, sizeof *p->steps))
            return no_memory(c);
        p->steps[p->step_count] =
            (plan_step){.op = COLLET_OP_COPY, .inputs = 1, .in = {to.id}, .dtype = dtype};
        to.id = PLAN_STEP | p->step_count++;
    }
    p->outs[k] = PLAN_INDEX(to.id);
    p->out_dtypes[k] =
        c->g->reduce ? program_reduced(c->g->reduce, dtype, COLLET_DTYPE_NONE) : dtype;
    return COLLET_OK;
}

/* The nodes that outputs need. */
static void mark(const graph *g, uint8_t *needed)
{
    for (uint32_t k = 0; k < g->output_count; k++)
        needed[g->outputs[k]] = 1;
    for (uint32_t i = g->count; i-- > 0;)
        for (uint32_t k = 0; needed[i] && k < g->nodes[i].count; k++)
            needed[g->nodes[i].in[k]] = 1;
}

static collet_status type_graph(compiler *c)
{
    const graph *g = c->g;
    uint8_t *needed = calloc(g->count + 1u, 1);
    c->values = calloc(g->count + 1u, sizeof *c->values);
    collet_status status = needed && c->values ? COLLET_OK : no_memory(c);
    if (status == COLLET_OK)
        mark(g, needed);
    for (uint32_t i = 0; i < g->count && status == COLLET_OK; i++) {
        c->node = i;
        /* Inputs also where nothing uses them: for their checks. */
        if (needed[i] || g->nodes[i].kind == NODE_INPUT)
            status = type_node(c, &g->nodes[i], &c->values[i]);
    }
    for (uint32_t k = 0; k < g->output_count && status == COLLET_OK; k++)
        status = type_output(c, k);
    free(needed);
    free(c->values);
    return status;
}

/* ---- The plan ---------------------------------------------------------------------------- */

static int is_lost(const collet_scalar *from, collet_dtype to)
{
    return is_complex(from->dtype) && !is_complex(to) && to != COLLET_BOOL;
}

/* An input that is a number: weak, unless the input has a dtype of its own. */
static collet_status value_of_input(const graph *g, const node *n, collet_dtype dtype,
                                    collet_scalar *value, const collet_scalar *number,
                                    collet_error *err)
{
    collet_scalar own = *number;
    int fits = !n->dtype || literal_convert(&own, n->dtype, number);
    if (fits && !literal_convert(value, dtype, &own))
        fits = n->dtype && !is_lost(&own, dtype);
    return fits ? COLLET_OK
                : collet_fail(err, COLLET_DTYPE, "the number for input %u, %s does not fit %s; %s",
                              n->op, g->names[n->op],
                              collet_dtype_name(n->dtype ? n->dtype : dtype),
                              n->dtype ? "give another number"
                                       : "convert the arrays to a dtype that holds it");
}

/* The value of a constant. If `numbers` is NULL, *value is not set for inputs that are numbers. */
static collet_status value_of(const graph *g, const plan_constant *k, collet_scalar *value,
                              const collet_scalar *numbers, collet_error *err)
{
    static const collet_scalar zero = {.dtype = COLLET_U8};
    const node *n = k->node == PLAN_ZERO ? NULL : &g->nodes[k->node];
    if (n && n->kind == NODE_INPUT)
        return numbers ? value_of_input(g, n, k->dtype, value, &numbers[n->op], err) : COLLET_OK;
    int fits = literal_convert(value, k->dtype, n ? &n->value : &zero);
    if (!fits && n->weak && n->value.dtype == COLLET_I64)
        return collet_fail(err, COLLET_DTYPE,
                           "the constant %lld does not fit %s, the dtype of the other operands; "
                           "convert them, \"i64(x)\"",
                           (long long)n->value.value.i64, collet_dtype_name(k->dtype));
    return fits || !is_lost(&n->value, k->dtype)
               ? COLLET_OK
               : collet_fail(err, COLLET_DTYPE, "a complex constant cannot be converted to %s",
                             collet_dtype_name(k->dtype));
}

collet_status plan_piece_constants(const plan *p, const graph *g, const plan_piece *piece,
                                   collet_scalar *values, const collet_scalar *numbers,
                                   collet_error *err)
{
    collet_status status = COLLET_OK;
    for (uint32_t i = 0; i < piece->program.n_constants && status == COLLET_OK; i++) {
        const plan_constant *k = &p->constants[piece->constant[i]];
        values[i] = piece->values[i];
        if (k->node != PLAN_ZERO && g->nodes[k->node].kind == NODE_INPUT)
            status = value_of(g, k, &values[i], numbers, err);
    }
    return status;
}

collet_status plan_set_constants(plan *p, const graph *g, collet_error *err)
{
    for (uint32_t i = 0; i < p->constant_count; i++) {
        collet_status status = value_of(g, &p->constants[i], &p->values[i], NULL, err);
        if (status != COLLET_OK)
            return status;
    }
    for (uint32_t i = 0; i < p->piece_count; i++)
        for (uint32_t k = 0; k < p->pieces[i].program.n_constants; k++)
            p->pieces[i].values[k] = p->values[p->pieces[i].constant[k]];
    return COLLET_OK;
}

collet_status plan_create(plan **out, const graph *g, const collet_dtype *in_dtypes,
                          collet_error *err)
{
    plan *p = calloc(1, sizeof *p);
    compiler c = {.p = p, .g = g, .err = err};
    if (!p)
        return no_memory(&c);
    memcpy(p->in_dtypes, in_dtypes, g->input_count * sizeof *in_dtypes);
    collet_status status = type_graph(&c);
    if (status == COLLET_OK) {
        p->values = calloc(p->constant_count + 1u, sizeof *p->values);
        status = p->values ? plan_cut(p, g, err) : no_memory(&c);
    }
    if (status == COLLET_OK)
        status = plan_set_constants(p, g, err);
    if (status != COLLET_OK) {
        plan_destroy(p);
        return status;
    }
    *out = p;
    return COLLET_OK;
}

void plan_destroy(plan *p)
{
    if (!p)
        return;
    for (uint32_t i = 0; i < p->piece_count; i++) {
        free(p->pieces[i].dtypes);
        free(p->pieces[i].steps);
        free(p->pieces[i].constant);
        free(p->pieces[i].values);
    }
    free(p->pieces);
    free(p->steps);
    free(p->constants);
    free(p->values);
    free(p->last);
    free(p);
}
