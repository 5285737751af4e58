/* SPDX-License-Identifier: Apache-2.0 */
/* Derivatives, in reverse mode: beginning with the output, each value adds to the derivatives of its operands.
 * Tests: tests/core/test_gradient.c */
#include <stdlib.h>
#include <string.h>

#include <collet/floating.h>

#include "expression.h"
#include "op/elementwise.h"
#include "op/program.h"
#include "parse.h"
#include "util/literal.h"
#include "util/programs.h"

#define NONE UINT32_MAX

typedef struct reversal {
    graph *g;
    uint32_t *derivative; /* the output's derivative with respect to each value; NONE: 0 */
    uint8_t *depends;     /* 1: the value depends on the input */
    collet_error *err;
} reversal;

static collet_status literal_of(reversal *r, uint32_t *value, int integer)
{
    const literal number = literal_of_integer(integer);
    return graph_literal(r->g, value, &number, r->err);
}

static collet_status apply2(reversal *r, uint32_t *value, uint32_t op, uint32_t a, uint32_t b)
{
    return graph_apply(r->g, value, op, (uint32_t[]){a, b}, 2, r->err);
}

enum { NESTED = 4 }; /* depth of nested `where` that multiply and sum search */

/* If `value` is a `where` with a 0 as operand 1 or 2: the number of the other operand; else 0. */
static uint32_t selected(const graph *g, uint32_t value)
{
    const node *n = &g->nodes[value];
    if (n->kind != NODE_APPLY || n->op != COLLET_OP_WHERE)
        return 0;
    return graph_is(g, n->in[2], 0.0) ? 1 : graph_is(g, n->in[1], 0.0) ? 2 : 0;
}

/* The `where` at `value`, with `other` instead of the operand whose number selected() returns. */
static collet_status select_other(reversal *r, uint32_t *out, uint32_t value, uint32_t other)
{
    uint32_t in[3];
    memcpy(in, r->g->nodes[value].in, sizeof in);
    in[selected(r->g, value)] = other;
    return graph_apply(r->g, out, COLLET_OP_WHERE, in, 3, r->err);
}

/* a * b, but where(c, a, 0) * b is where(c, a * b, 0): b need not be finite where c is false. */
static collet_status multiply(reversal *r, uint32_t *out, uint32_t a, uint32_t b, int depth)
{
    uint32_t inner, k = selected(r->g, a), w = k ? a : b, other = k ? b : a;
    if (!k)
        k = selected(r->g, b);
    if (!k || !depth)
        return apply2(r, out, COLLET_OP_MUL, a, b);
    collet_status status = multiply(r, &inner, r->g->nodes[w].in[k], other, depth - 1);
    return status == COLLET_OK ? select_other(r, out, w, inner) : status;
}

/* a + b, but where(c, x, 0) + where(c, y, 0) is where(c, x + y, 0), so that a later product finds
 * the where. */
static collet_status sum(reversal *r, uint32_t *out, uint32_t a, uint32_t b, int depth)
{
    const node *n = r->g->nodes;
    uint32_t inner, k = selected(r->g, a);
    if (!k || !depth || selected(r->g, b) != k || n[a].in[0] != n[b].in[0])
        return apply2(r, out, COLLET_OP_ADD, a, b);
    collet_status status = sum(r, &inner, n[a].in[k], n[b].in[k], depth - 1);
    return status == COLLET_OK ? select_other(r, out, a, inner) : status;
}

/* Adds derivative(of) * factor to the derivative of `to`. */
static collet_status hand_on(reversal *r, uint32_t of, uint32_t to, uint32_t factor)
{
    uint32_t product;
    if (graph_is(r->g, factor, 0.0))
        return COLLET_OK;
    collet_status status = multiply(r, &product, r->derivative[of], factor, NESTED);
    if (status == COLLET_OK && r->derivative[to] != NONE)
        status = sum(r, &product, r->derivative[to], product, NESTED);
    if (status == COLLET_OK)
        r->derivative[to] = product;
    return status;
}

/* Applies the chain rule to a function, by the column `derivative` of elementwise.def. */
static collet_status through_function(reversal *r, uint32_t y)
{
    const node n = r->g->nodes[y]; /* a copy, because the graph grows */
    const elementwise *e = elementwise_of(n.op);
    const parse_name names[] = {
        {"a", n.in[0]}, {"b", n.in[1]}, {"c", n.in[2]}, {"y", y}, {NULL, 0}};
    uint32_t factors[3];
    collet_error why;
    if (!strcmp(e->derivative, "-"))
        return collet_fail(r->err, COLLET_UNSUPPORTED, "%s has no derivative", e->name);
    collet_status status = parse_values(r->g, factors, n.count, e->derivative, names, &why);
    if (status != COLLET_OK)
        return collet_fail(r->err, status, "the derivative of %s, \"%s\": %s", e->name,
                           e->derivative, why.text);
    for (uint32_t i = 0; i < n.count && status == COLLET_OK; i++)
        if (r->depends[n.in[i]])
            status = hand_on(r, y, n.in[i], factors[i]);
    return status;
}

static int is_floating(collet_dtype d)
{
    return d == COLLET_F16 || d == COLLET_BF16 || d == COLLET_F32 || d == COLLET_F64 ||
           d == COLLET_C64 || d == COLLET_C128;
}

static collet_status through(reversal *r, uint32_t y)
{
    const node n = r->g->nodes[y];
    uint32_t one;
    if (n.kind == NODE_APPLY)
        return through_function(r, y);
    if (n.kind == NODE_ROWS)
        return collet_fail(r->err, COLLET_UNSUPPORTED,
                           "%s of rows: only functions of single elements have a derivative here",
                           program_reduction_name(n.op));
    /* The derivative of a conversion to integers is 0. */
    if (n.kind != NODE_LIKE && !(n.kind == NODE_CONVERT && is_floating(n.dtype)))
        return COLLET_OK;
    collet_status status = literal_of(r, &one, 1);
    return status == COLLET_OK ? hand_on(r, y, n.in[0], one) : status;
}

/* Sets the only output to the derivative of `output` with respect to `input`. */
static collet_status reverse(reversal *r, uint32_t output, uint32_t input)
{
    graph *g = r->g;
    uint32_t count = g->count, value;
    r->depends[input] = 1;
    for (uint32_t i = 0; i < count; i++) {
        r->derivative[i] = NONE;
        for (uint32_t k = 0; k < g->nodes[i].count; k++)
            if (!(g->nodes[i].kind == NODE_LIKE && k))
                r->depends[i] |= r->depends[g->nodes[i].in[k]];
    }
    collet_status status = literal_of(r, &r->derivative[output], 1);
    for (uint32_t y = output; y > input && status == COLLET_OK; y--)
        if (r->depends[y] && r->derivative[y] != NONE)
            status = through(r, y);
    value = r->derivative[input];
    if (status == COLLET_OK && (value == NONE || !r->depends[output]))
        status = literal_of(r, &value, 0);
    if (status == COLLET_OK)
        status = graph_convert(g, &value, NODE_LIKE, value, input, COLLET_DTYPE_NONE, r->err);
    return status == COLLET_OK ? graph_output(g, value, r->err) : status;
}

static collet_status check_arguments(const collet_expression *e, collet_expression **out,
                                     uint32_t output, uint32_t input, collet_error *err)
{
    if (!e || !out)
        return collet_fail(err, COLLET_INVALID, "collet_expression_gradient: %s is NULL",
                           e ? "out" : "the expression");
    if (output >= e->graph.output_count || input >= e->graph.input_count)
        return collet_fail(
            err, COLLET_INVALID,
            "collet_expression_gradient: output %u by input %u: there are %u outputs "
            "and %u inputs",
            output, input, e->graph.output_count, e->graph.input_count);
    if (e->graph.reduce && e->graph.reduce != COLLET_OP_SUM)
        return collet_fail(err, COLLET_INVALID,
                           "collet_expression_gradient: the expression is reduced; only the "
                           "derivative of a sum is elementwise");
    return COLLET_OK;
}

collet_status collet_expression_gradient(const collet_expression *e, collet_expression **out,
                                         uint32_t output, uint32_t input, collet_error *err)
{
    PROGRAM_CALL(COLLET_INVALID, err, e);
    COLLET_FLOATING_SCOPE;
    collet_expression *made;
    collet_error why;
    collet_status status = check_arguments(e, out, output, input, err);
    if (status == COLLET_OK)
        status = collet_expression_create(&made, err);
    if (status != COLLET_OK)
        return status;
    reversal r = {.g = &made->graph, .err = &why};
    status = graph_copy(&made->graph, &e->graph, &why);
    r.derivative = calloc(e->graph.count + 1u, sizeof *r.derivative);
    r.depends = calloc(e->graph.count + 1u, 1);
    if (status == COLLET_OK && (!r.derivative || !r.depends))
        status = collet_fail(&why, COLLET_NO_MEMORY, "out of memory for an expression");
    made->graph.simplify = made->graph.derivative = 1;
    if (status == COLLET_OK)
        status = reverse(&r, e->graph.outputs[output], e->graph.inputs[input]);
    made->graph.simplify = 0;
    free(r.derivative);
    free(r.depends);
    if (status != COLLET_OK) {
        collet_expression_destroy(made);
        return collet_fail(err, status, "collet_expression_gradient: %s", why.text);
    }
    *out = made;
    return COLLET_OK;
}
