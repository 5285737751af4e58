/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_expression_numbers.c */
#include "constants.h"

#include <stdlib.h>
#include <string.h>

#include "fold.h"
#include "op/elementwise.h"

#define FEW 8 /* ranges */

typedef struct state {
    const plan *p;
    const graph *g;
    const collet_scalar *numbers; /* inputs that are numbers; NULL: skips constants that need inputs */
    plan_bounds *bounds;          /* bounds of the ranges */
    int misses;                   /* as plan.misses */
    collet_error *err;
} state;

static const node *node_of(const state *s, uint32_t number)
{
    return PLAN_KIND(number) == PLAN_STEP ? NULL : &s->g->nodes[number];
}

static int is_given(const state *s, uint32_t number)
{
    return number != PLAN_ZERO &&
           (PLAN_KIND(number) == PLAN_STEP ? s->p->ranges[PLAN_INDEX(number)].given
                                           : node_of(s, number)->kind == NODE_INPUT);
}

static plan_bounds bounds_of(const state *s, uint32_t number)
{
    if (PLAN_KIND(number) == PLAN_STEP)
        return s->bounds[PLAN_INDEX(number)];
    const node *n = node_of(s, number);
    literal value = n->kind == NODE_INPUT ? literal_read(&s->numbers[n->op], 1) : n->value;
    return (plan_bounds){value, value};
}

/* ---- Ranges ------------------------------------------------------------------------------ */

static void extend(plan_bounds *b, const literal *n, int first)
{
    if (first || n->integer < b->low.integer)
        b->low = *n;
    if (first || n->integer > b->high.integer)
        b->high = *n;
}

static collet_status compute(const state *s, uint32_t op, const literal *in, uint32_t count,
                             literal *out)
{
    char texts[2][LITERAL_TEXT];
    collet_status status = fold(op, in, count, out, s->err);
    if (status == COLLET_INVALID && s->g->derivative) {
        literal real[3] = {in[0], in[1], in[2]};
        for (uint32_t i = 0; i < count; i++)
            literal_make_real(&real[i]);
        status = fold(op, real, count, out, s->err);
    }
    if (status != COLLET_OK || literal_is_whole(out) || s->g->derivative)
        return status;
    return collet_fail(
        s->err, COLLET_DTYPE, "%s(%s, %s) is not an integer; give one of the numbers as a real number",
        elementwise_of(op)->name, literal_text(&in[0], texts[0]), literal_text(&in[1], texts[1]));
}

/* Sets the bounds of the result: from all combinations of the operands' bounds, and 0 for abs and
 * square of a range that contains 0. */
static collet_status compute_range(const state *s, const plan_range *r, plan_bounds *out)
{
    plan_bounds in[3] = {{{0}, {0}}};
    uint32_t first = r->op == COLLET_OP_WHERE && r->in[0] == UINT32_MAX;
    for (uint32_t i = first; i < r->count; i++)
        in[i] = bounds_of(s, r->in[i]);
    if (first) /* the condition may be true or false */
        in[0] = (plan_bounds){literal_of_bool(0), literal_of_bool(1)};
    for (uint32_t corner = 0; corner < 1u << r->count; corner++) {
        literal ends[3], made;
        for (uint32_t i = 0; i < 3; i++)
            ends[i] = corner >> i & 1 ? in[i].high : in[i].low;
        collet_status status = compute(s, r->op, ends, r->count, &made);
        if (status != COLLET_OK)
            return status;
        extend(out, &made, !corner);
        if (!r->varies)
            return COLLET_OK;
    }
    const literal zero = literal_of_integer(0);
    if ((r->op == COLLET_OP_ABS || r->op == COLLET_OP_SQUARE) && in[0].low.integer < 0 &&
        in[0].high.integer > 0)
        extend(out, &zero, 0);
    return COLLET_OK;
}

static collet_status check(const state *s, const plan_check *k)
{
    char text[LITERAL_TEXT];
    const plan_bounds *b = &s->bounds[k->range];
    const literal *beyond = literal_beyond(&b->low, k->dtype)    ? &b->low
                            : literal_beyond(&b->high, k->dtype) ? &b->high
                                                                 : NULL;
    if (!beyond)
        return COLLET_OK;
    return collet_fail(s->err, COLLET_DTYPE,
                       "%s can give %s, which does not fit %s; convert the other operands, "
                       "\"i64(x)\", or write one of the numbers with a decimal point",
                       elementwise_of(s->p->ranges[k->range].op)->name, literal_text(beyond, text),
                       collet_dtype_name(k->dtype));
}

static collet_status compute_ranges(const state *s)
{
    collet_status status = COLLET_OK;
    for (uint32_t i = 0; i < s->p->range_count && status == COLLET_OK; i++)
        if (s->numbers || !s->p->ranges[i].given)
            status = compute_range(s, &s->p->ranges[i], &s->bounds[i]);
    for (uint32_t i = 0; i < s->p->check_count && status == COLLET_OK; i++)
        if (s->numbers || !s->p->ranges[s->p->checks[i].range].given)
            status = check(s, &s->p->checks[i]);
    return status;
}

/* ---- Constants --------------------------------------------------------------------------- */

static int is_lost(const literal *from, collet_dtype to)
{
    return (from->dtype == COLLET_C64 || from->dtype == COLLET_C128) && to != COLLET_BOOL &&
           to != COLLET_C64 && to != COLLET_C128;
}

static collet_status misfit(const state *s, uint32_t number, const literal *value,
                            collet_dtype dtype)
{
    char text[LITERAL_TEXT];
    const node *n = node_of(s, number);
    if (n && n->kind == NODE_INPUT)
        return collet_fail(
            s->err, COLLET_DTYPE, "the number %s for input %u, %s does not fit %s; %s",
            literal_text(value, text), n->op, s->g->names[n->op], collet_dtype_name(dtype),
            n->dtype ? "give another number" : "convert the arrays to a dtype that holds it");
    if (is_lost(value, dtype))
        return collet_fail(s->err, COLLET_DTYPE, "a complex constant cannot be converted to %s",
                           collet_dtype_name(dtype));
    return collet_fail(
        s->err, COLLET_DTYPE,
        "the constant %s does not fit %s; convert the other operands, \"i64(x)\", or "
        "write it with a decimal point",
        literal_text(value, text), collet_dtype_name(dtype));
}

/* An input that was declared with a dtype is converted to that dtype first. */
static collet_status convert(const state *s, const plan_constant *k, collet_scalar *out)
{
    const node *n = node_of(s, k->number);
    literal value = bounds_of(s, k->number).low;
    int strong = n && !n->weak && n->kind != NODE_INPUT;
    if (n && n->kind == NODE_INPUT && n->dtype) {
        if (!literal_convert(out, n->dtype, &value))
            return misfit(s, k->number, &value, n->dtype);
        value = literal_read(out, 0);
        strong = 1;
    }
    int real = !literal_is_whole(&value) && !n; /* only in derivatives: a real value cannot have an integer dtype */
    int fits = literal_convert(out, k->dtype, &value) && !(real && literal_has_integers(k->dtype));
    if (fits || (strong && !is_lost(&value, k->dtype)))
        return COLLET_OK;
    return misfit(s, k->number, &value, k->dtype);
}

/* A constant of a comparison of elements x of dtype k->beside with a number: the nearest number of the dtype
 * or, if the constant is a bool, the known result. The plan combines both constants: (x op nearest) and (or)
 * result. */
static void compare(state *s, const plan_constant *k, collet_scalar *out)
{
    literal number = bounds_of(s, k->number).low, made;
    int beyond = literal_beyond(&number, k->beside);
    literal sides[3] = {literal_of_integer(0), literal_of_integer(beyond)};
    (void)literal_convert(out, k->dtype, &number);
    if (k->dtype == COLLET_BOOL && fold(k->compares, sides, 2, &made, s->err) == COLLET_OK)
        (void)literal_convert(out, COLLET_BOOL, &made);
    else
        s->misses |= beyond && !s->p->beyond;
}

static collet_status compute_constants(state *s, collet_scalar *values)
{
    collet_status status = COLLET_OK;
    for (uint32_t i = 0; i < s->p->constant_count && status == COLLET_OK; i++) {
        const plan_constant *k = &s->p->constants[i];
        if (is_given(s, k->number) != (s->numbers != NULL))
            continue;
        if (k->number == PLAN_ZERO)
            values[i] = (collet_scalar){.dtype = k->dtype};
        else if (k->compares)
            compare(s, k, &values[i]);
        else
            status = convert(s, k, &values[i]);
    }
    return status;
}

collet_status constants_set(plan *p, const graph *g, collet_error *err)
{
    state s = {.p = p, .g = g, .bounds = p->bounds, .err = err};
    collet_status status = compute_ranges(&s);
    if (status == COLLET_OK)
        status = compute_constants(&s, p->values);
    p->misses = s.misses;
    for (uint32_t i = 0; i < p->piece_count && status == COLLET_OK; i++)
        for (uint32_t k = 0; k < p->pieces[i].program.n_constants; k++)
            p->pieces[i].values[k] = p->values[p->pieces[i].constant[k]];
    for (uint32_t k = 0; p->rows && k < p->rows->program.n_constants; k++)
        p->rows->values[k] = p->values[p->rows->constant[k]];
    return status;
}

collet_status constants_with(const plan *p, const graph *g, const collet_scalar *numbers,
                             collet_scalar *values, int *misses, collet_error *err)
{
    plan_bounds few[FEW];
    state s = {.p = p, .g = g, .numbers = numbers, .bounds = few, .misses = p->misses, .err = err};
    if (p->range_count > FEW)
        s.bounds = malloc(p->range_count * sizeof *s.bounds);
    if (!s.bounds)
        return collet_fail(err, COLLET_NO_MEMORY, "out of memory for an expression");
    memcpy(values, p->values, p->constant_count * sizeof *values);
    collet_status status = compute_ranges(&s);
    if (status == COLLET_OK)
        status = compute_constants(&s, values);
    *misses = s.misses;
    if (s.bounds != few)
        free(s.bounds);
    return status;
}
