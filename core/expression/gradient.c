/* SPDX-License-Identifier: Apache-2.0 */
/* Derivatives, in reverse: from the output, each value hands its derivative to its operands.
 * Tests: tests/core/test_gradient.c */
#include <stdlib.h>
#include <string.h>

#include <collet/floating.h>

#include "expression.h"
#include "literal.h"
#include "op/elementwise.h"
#include "parse.h"

#define NONE UINT32_MAX

typedef struct reversal {
    graph *g;
    uint32_t *derivative; /* of the output by each value; NONE: 0 */
    uint8_t *depends;     /* on the input */
    collet_error *err;
} reversal;

static collet_status apply2(reversal *r, uint32_t *value, uint32_t op, uint32_t a, uint32_t b)
{
    return graph_apply(r->g, value, op, (uint32_t[]){a, b}, 2, r->err);
}

/* Adds derivative(of) * factor to the derivative of `to`. */
static collet_status hand_on(reversal *r, uint32_t of, uint32_t to, uint32_t factor)
{
    uint32_t product;
    if (graph_is(r->g, factor, 0.0))
        return COLLET_OK;
    collet_status status = apply2(r, &product, COLLET_OP_MUL, r->derivative[of], factor);
    if (status == COLLET_OK && r->derivative[to] != NONE)
        status = apply2(r, &product, COLLET_OP_ADD, r->derivative[to], product);
    if (status == COLLET_OK)
        r->derivative[to] = product;
    return status;
}

/* By the column `derivative` of elementwise.def. */
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
    /* A conversion to integers is constant but where it jumps. */
    if (n.kind != NODE_LIKE && !(n.kind == NODE_CONVERT && is_floating(n.dtype)))
        return COLLET_OK;
    collet_status status = graph_literal(r->g, &one, literal_integer(1), r->err);
    return status == COLLET_OK ? hand_on(r, y, n.in[0], one) : status;
}

/* Sets the only output to the derivative of `output` by `input`. */
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
    collet_status status = graph_literal(g, &r->derivative[output], literal_integer(1), r->err);
    for (uint32_t y = output; y > input && status == COLLET_OK; y--)
        if (r->depends[y] && r->derivative[y] != NONE)
            status = through(r, y);
    value = r->derivative[input];
    if (status == COLLET_OK && (value == NONE || !r->depends[output]))
        status = graph_literal(g, &value, literal_integer(0), r->err);
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
    made->graph.simplify = 1;
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
