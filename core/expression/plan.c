/* SPDX-License-Identifier: Apache-2.0 */
/* The dtypes of an expression's values.
 * Tests: tests/core/test_expression.c */
#include "plan.h"

#include <stdlib.h>
#include <string.h>

#include "constants.h"
#include "cut.h"
#include "fold.h"
#include "op/elementwise.h"
#include "op/program.h"
#include "util/literal.h"
#include "values.h"

#include <collet/ops.h>

/* Values are numbered: x is 0, the result of step i is i + 1. */
typedef struct power_step {
    uint32_t op, inputs;
    uint32_t in[2];
} power_step;

#define POWER_STEPS 12

#define LARGEST 16

typedef struct list {
    power_step *steps;
    uint32_t count;
} list;

static uint32_t add(list *l, uint32_t op, uint32_t inputs, uint32_t a, uint32_t b)
{
    l->steps[l->count++] = (power_step){op, inputs, {a, b}};
    return l->count;
}

/* Adds the steps of x^(n / 2). */
static void multiply(list *l, uint32_t x, uint32_t n)
{
    uint32_t result = 0;
    int begun = (n & 1) != 0;
    if (begun)
        result = add(l, COLLET_OP_SQRT, 1, x, 0);
    for (n /= 2; n; n /= 2) {
        if (n & 1)
            result = begun ? add(l, COLLET_OP_MUL, 2, result, x) : x;
        begun |= (n & 1) != 0;
        if (n > 1)
            x = add(l, COLLET_OP_SQUARE, 1, x, 0);
    }
}

static double number(const literal *s)
{
    return s->dtype == COLLET_I64 ? (double)s->integer : s->dtype == COLLET_F64 ? s->re : 0.0;
}

/* Writes the steps that compute x to the power `exponent` for x of dtype `dtype`; the last step is the power. Returns
 * their number. 0: the op pow computes it, because the exponent is 0 or no multiple of 1/2 between -16 and 16, x is
 * bool, x is an integer and the exponent is negative, or pow is more accurate (f16, bf16). */
static uint32_t power_steps(power_step steps[POWER_STEPS], const literal *exponent,
                            collet_dtype dtype)
{
    double twice = 2.0 * number(exponent);
    int half = dtype == COLLET_F16 || dtype == COLLET_BF16;
    int floating = half || dtype == COLLET_F32 || dtype == COLLET_F64 || dtype == COLLET_C64 ||
                   dtype == COLLET_C128;
    list l = {steps, 0};
    if (!(twice >= -2 * LARGEST && twice <= 2 * LARGEST) || twice != (int)twice)
        return 0;
    /* The op pow rounds only once for f16 and bf16, and defines the results of integers with
     * negative exponents. */
    if ((half && twice != 1 && twice != 4 && twice != -2) || (!floating && twice < 0) ||
        dtype == COLLET_BOOL)
        return 0;
    /* A negative power is a power of 1/x: x^n could overflow or underflow where the result does not.
     * x^-1/2 is 1 / sqrt(x) instead, since sqrt(1/x) is wrong if 1/x overflows. */
    if (twice == -1)
        add(&l, COLLET_OP_RECIPROCAL, 1, add(&l, COLLET_OP_SQRT, 1, 0, 0), 0);
    else if (twice < 0)
        add(&l, COLLET_OP_RECIPROCAL, 1, 0, 0);
    if (twice > 0 || twice < -2)
        multiply(&l, l.count, (uint32_t)(twice > 0 ? twice : -twice));
    return l.count;
}

static int is_complex(collet_dtype d)
{
    return d == COLLET_C64 || d == COLLET_C128;
}

static int is_float(collet_dtype d)
{
    return d == COLLET_F16 || d == COLLET_BF16 || d == COLLET_F32 || d == COLLET_F64;
}

/* ---- Promotion --------------------------------------------------------------------------- */

/* The common dtype of a weak operand of dtype `w` and other operands of dtype `d`. */
static collet_dtype with_weak(collet_dtype d, collet_dtype w)
{
    if (d == COLLET_BOOL)
        return w;
    if (w == COLLET_C128 && !is_complex(d))
        return d == COLLET_F16 || d == COLLET_BF16 || d == COLLET_F32 ? COLLET_C64 : COLLET_C128;
    return w == COLLET_F64 && !is_float(d) && !is_complex(d) ? COLLET_F64 : d;
}

/* The common dtype of operands. */
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

/* The op that NumPy uses for bools. */
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

/* The dtype to which operands of dtype `d` are converted for the function; COLLET_DTYPE_NONE: the function does not
 * support them. */
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
        plan_step step = {s->op, s->inputs, {values[s->in[0]].id}, x->dtype, 0};
        if (s->inputs > 1)
            step.in[1] = values[s->in[1]].id;
        status = value_step(c, &step, &values[i + 1]);
    }
    *out = values[count];
    return status;
}

static collet_status bad_dtype(const compiler *c, const elementwise *e, collet_dtype d)
{
    return collet_fail(c->err, COLLET_DTYPE, "%s does not take %s", e->name, collet_dtype_name(d));
}

/* Handles a function of integers and bools that the host knows, and a comparison of such a number with a real number.
 * *done = 0: the node is neither. */
static collet_status type_numbers(compiler *c, const node *n, const typed *in, typed *out,
                                  int *done)
{
    plan_range r = {.op = n->op, .count = n->count};
    uint32_t first = n->op == COLLET_OP_WHERE;
    int known = 1, integers = 0, ranges;
    for (uint32_t i = 0; i < n->count; i++) {
        r.in[i] = in[i].number;
        if (i < first && (!value_is_known(&in[i]) || in[i].form == TYPED_SELECTED)) {
            r.in[i] = UINT32_MAX;
            r.varies = 1;
            continue;
        }
        known &=
            value_is_known(&in[i]) || (fold_compares(n->op) && in[i].weak &&
                                       in[i].form == TYPED_NUMBER && in[i].dtype == COLLET_F64);
        integers |= i >= first && in[i].dtype == COLLET_I64;
        r.varies |= in[i].form == TYPED_SELECTED;
        r.given |= known && (PLAN_KIND(in[i].number) == PLAN_STEP
                                 ? c->p->ranges[PLAN_INDEX(in[i].number)].given
                                 : c->g->nodes[in[i].number].kind == NODE_INPUT);
    }
    collet_dtype dtype = known ? fold_result(n->op, integers, &ranges) : COLLET_DTYPE_NONE;
    *done = dtype != COLLET_DTYPE_NONE && !(r.varies && (!ranges || dtype == COLLET_BOOL));
    if (!*done)
        return COLLET_OK;
    *out = (typed){.dtype = dtype,
                   .weak = 1,
                   .form = r.varies ? TYPED_SELECTED : TYPED_NUMBER,
                   .node = c->node};
    return value_range(c, &r, &out->number);
}

/* The comparison that has the same result when the operands are swapped. */
static uint32_t swapped(uint32_t op)
{
    return op == COLLET_OP_LESS            ? COLLET_OP_GREATER
           : op == COLLET_OP_GREATER       ? COLLET_OP_LESS
           : op == COLLET_OP_LESS_EQUAL    ? COLLET_OP_GREATER_EQUAL
           : op == COLLET_OP_GREATER_EQUAL ? COLLET_OP_LESS_EQUAL
                                           : op;
}

/* Compares elements of an integer dtype with an integer that the dtype may not hold. With a literal
 * the plan compares directly, or the result is constant. Another number may differ in the next
 * evaluation: a plan with `beyond` then has two constants for it, computed for each evaluation: the
 * nearest integer of the dtype, and the result for a number beyond it. So for a u8 x, x < 300
 * becomes (x < 255) | True, and x < 200 becomes (x < 200) | False. A plan without `beyond` compares
 * directly. */
static collet_status type_comparison(compiler *c, uint32_t op, const typed *x, const typed *number,
                                     collet_dtype d, typed *out)
{
    int and = op == COLLET_OP_EQUAL || op == COLLET_OP_LESS_EQUAL || op == COLLET_OP_GREATER_EQUAL;
    const node *n = PLAN_KIND(number->number) == PLAN_STEP ? NULL : &c->g->nodes[number->number];
    int fixed = n && n->kind == NODE_LITERAL, beyond = fixed && literal_beyond(&n->value, d);
    typed a, b, answer;
    collet_status status = COLLET_OK;
    int joined = !fixed && c->p->beyond;
    if (joined || beyond)
        status = value_constant(c, &(plan_constant){number->number, COLLET_BOOL, op, d}, &answer);
    if (beyond)
        *out = answer;
    if (status != COLLET_OK || beyond)
        return status;
    status = value_convert(c, x, d, &a);
    if (status == COLLET_OK)
        status = value_constant(c, &(plan_constant){number->number, d, op, d}, &b);
    if (status == COLLET_OK)
        status = value_step(c, &(plan_step){op, 2, {a.id, b.id}, COLLET_BOOL, 0}, out);
    if (status != COLLET_OK || !joined)
        return status;
    const uint32_t joins = and? COLLET_OP_LOGICAL_AND : COLLET_OP_LOGICAL_OR;
    return value_step(c, &(plan_step){joins, 2, {out->id, answer.id}, COLLET_BOOL, 0}, out);
}

/* Whether to compare in i64. i64 holds the integers of every dtype except u64, and the numbers that where()
 * selects. */
static int compares_selected(const elementwise *e, const typed *in, const typed *all)
{
    return fold_compares(e->op) && literal_has_integers(all->dtype) && all->dtype != COLLET_U64 &&
           (in[0].form == TYPED_SELECTED || in[1].form == TYPED_SELECTED);
}

static collet_status type_apply(compiler *c, const node *n, typed *out)
{
    const elementwise *e = elementwise_of(n->op);
    uint32_t first = e->result == ELEMENTWISE_SELECT;
    power_step steps[POWER_STEPS];
    typed in[3];
    int done;
    for (uint32_t i = 0; i < n->count; i++)
        in[i] = c->values[n->in[i]];
    collet_status status = type_numbers(c, n, in, out, &done);
    if (status != COLLET_OK || done)
        return status;
    typed all = common(in + first, n->count - first);
    if (all.weak && all.dtype == COLLET_BOOL && !takes(logical_op(e->op), COLLET_BOOL))
        all.dtype = COLLET_I64; /* Python's bools are integers */
    if (first && all.weak && all.dtype != COLLET_BOOL) {
        *out = (typed){.dtype = all.dtype, .weak = 1, .form = TYPED_SELECTED, .node = c->node};
        return COLLET_OK;
    }
    for (uint32_t i = 0;
         i < 2 && fold_compares(e->op) && literal_has_integers(all.dtype) && !all.weak; i++)
        if (value_is_known(&in[i]) && in[i].form == TYPED_NUMBER)
            return type_comparison(c, i ? e->op : swapped(e->op), &in[!i], &in[i], all.dtype, out);
    if (compares_selected(e, in, &all))
        all.dtype = COLLET_I64;
    if (all.dtype == COLLET_BOOL)
        e = elementwise_of(logical_op(e->op));
    if (is_identity(e->op, all.dtype)) {
        *out = in[0];
        return COLLET_OK;
    }
    if (e->op == COLLET_OP_IMAG && !is_complex(all.dtype))
        return value_constant(c, &(plan_constant){PLAN_ZERO, all.dtype, COLLET_NO_OP, 0}, out);
    collet_dtype dtype = taken(e->op, all.dtype);
    if (!dtype)
        return bad_dtype(c, e, all.dtype);
    plan_step s = {.op = e->op, .inputs = n->count, .dtype = elementwise_result(e, dtype)};
    for (uint32_t i = 0; i < n->count; i++) {
        status = value_convert(c, &in[i], elementwise_operand(e, dtype, i), &in[i]);
        if (status != COLLET_OK)
            return status;
        s.in[i] = in[i].id;
    }
    const node *last = &c->g->nodes[n->in[n->count - 1]];
    uint32_t count = 0;
    if (e->op == COLLET_OP_POW && last->kind == NODE_LITERAL)
        count = power_steps(steps, &last->value, dtype);
    status = count ? emit_power(c, &in[0], steps, count, out) : value_step(c, &s, out);
    /* The result is not weak if it is an integer: functions of integers that where() selects work like functions of
     * arrays.
     * */
    out->weak = all.weak && (is_float(out->dtype) || is_complex(out->dtype));
    return status;
}

/* The dtype to which values of dtype `d` are converted for a reduction: `d`, or a wider dtype if there is no kernel
 * for `d`. min and max use only `d`, because their result has the dtype of the values. */
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

/* A reduction of rows. Its operand is an input or a step of the full shape. */
static collet_status type_rows(compiler *c, const node *n, typed *out)
{
    const typed *v = &c->values[n->in[0]];
    plan_step s = {.op = n->op, .inputs = n->count};
    typed in;
    collet_dtype dtype = reducible(n->op, v->dtype);
    if (!dtype)
        return collet_fail(c->err, COLLET_DTYPE, "%s of rows does not take %s",
                           program_reduction_name(n->op), collet_dtype_name(v->dtype));
    collet_status status = value_convert(c, v, dtype, &in);
    if (status == COLLET_OK && value_shape(c->p, in.id) != PROGRAM_FULL)
        status = collet_fail(c->err, COLLET_INVALID, "%s of rows reduces %s; it takes a value of the inputs' shape",
                             program_reduction_name(n->op),
                             value_shape(c->p, in.id) ? "a value with one element per row" : "a constant");
    s.in[0] = in.id;
    s.dtype = program_reduced(n->op, dtype, COLLET_DTYPE_NONE);
    if (status == COLLET_OK && n->count > 1) {
        status = value_convert(c, &c->values[n->in[1]], COLLET_F64, &in);
        s.in[1] = in.id;
    }
    return status == COLLET_OK ? value_step(c, &s, out) : status;
}

static collet_status type_node(compiler *c, const node *n, typed *out)
{
    const graph *g = c->g;
    collet_dtype d;
    switch (n->kind) {
    case NODE_INPUT:
        d = c->p->in_dtypes[n->op];
        if (d & PLAN_NUMBER) {
            *out = (typed){.dtype = n->dtype ? n->dtype : d & ~PLAN_NUMBER,
                           .weak = !n->dtype,
                           .form = TYPED_NUMBER,
                           .number = c->node};
            return COLLET_OK;
        }
        if (n->dtype && n->dtype != d)
            return collet_fail(c->err, COLLET_DTYPE, "input %u (%s) is %s; it must be %s", n->op,
                               g->names[n->op], collet_dtype_name(d), collet_dtype_name(n->dtype));
        *out = (typed){.id = PLAN_INPUT | n->op, .dtype = d};
        return COLLET_OK;
    case NODE_CONSTANT:
    case NODE_LITERAL:
        *out = (typed){
            .dtype = n->value.dtype, .weak = n->weak, .form = TYPED_NUMBER, .number = c->node};
        return COLLET_OK;
    case NODE_APPLY:
        return type_apply(c, n, out);
    case NODE_ROWS:
        return type_rows(c, n, out);
    case NODE_LIKE:
        d = c->values[n->in[1]].dtype;
        *out = c->values[n->in[0]];
        return is_float(d) || (is_complex(d) && !is_complex(out->dtype)) || is_complex(d)
                   ? value_convert(c, &c->values[n->in[0]], d, out)
                   : COLLET_OK;
    default:
        return value_convert(c, &c->values[n->in[0]], n->dtype, out);
    }
}

/* ---- Outputs ----------------------------------------------------------------------------- */

/* Each output is a separate step, so that a program can write it. */
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
    collet_status status = value_convert(c, &v, dtype, &to);
    if (status != COLLET_OK)
        return status;
    int taken_already = PLAN_KIND(to.id) != PLAN_STEP;
    for (uint32_t i = 0; i < k; i++)
        taken_already |= to.id == (PLAN_STEP | p->outs[i]);
    if (taken_already)
        status = value_own_step(c, &(plan_step){COLLET_OP_COPY, 1, {to.id}, dtype, 0}, &to);
    if (status != COLLET_OK)
        return status;
    p->outs[k] = PLAN_INDEX(to.id);
    if (!c->g->reduce && value_shape(p, to.id) == PROGRAM_NARROW)
        p->out_narrow |= (uint64_t)1 << k;
    p->out_dtypes[k] =
        c->g->reduce ? program_reduced(c->g->reduce, dtype, COLLET_DTYPE_NONE) : dtype;
    return COLLET_OK;
}

/* Marks the nodes that outputs need. */
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
    collet_status status = needed && c->values ? COLLET_OK : value_no_memory(c);
    if (status == COLLET_OK)
        mark(g, needed);
    for (uint32_t i = 0; i < g->count && status == COLLET_OK; i++) {
        c->node = i;
        /* Inputs are typed even if no output needs them, so that they are checked. */
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

collet_status plan_create(plan **out, const graph *g, const collet_dtype *in_dtypes, int beyond,
                          collet_error *err)
{
    plan *p = calloc(1, sizeof *p);
    compiler c = {.p = p, .g = g, .err = err};
    if (!p)
        return value_no_memory(&c);
    memcpy(p->in_dtypes, in_dtypes, g->input_count * sizeof *in_dtypes);
    p->beyond = beyond;
    collet_status status = type_graph(&c);
    if (status == COLLET_OK) {
        p->values = calloc(p->constant_count + 1u, sizeof *p->values);
        p->bounds = calloc(p->range_count + 1u, sizeof *p->bounds);
        status = p->values && p->bounds ? plan_cut(p, g, err) : value_no_memory(&c);
    }
    if (status == COLLET_OK)
        status = constants_set(p, g, err);
    if (status != COLLET_OK) {
        plan_destroy(p);
        return status;
    }
    *out = p;
    return COLLET_OK;
}

static void clear_piece(plan_piece *piece)
{
    free(piece->dtypes);
    free(piece->steps);
    free(piece->constant);
    free(piece->values);
}

void plan_destroy(plan *p)
{
    if (!p)
        return;
    for (uint32_t i = 0; i < p->piece_count; i++)
        clear_piece(&p->pieces[i]);
    if (p->rows)
        clear_piece(p->rows);
    free(p->rows);
    free(p->pieces);
    free(p->steps);
    free(p->constants);
    free(p->ranges);
    free(p->checks);
    free(p->values);
    free(p->bounds);
    free(p->last);
    free(p);
}
