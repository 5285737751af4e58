/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_expression.c */
#include "graph.h"

#include <stdlib.h>
#include <string.h>

#include "fold.h"
#include "op/elementwise.h"
#include "op/program.h"

#define REFUSE(...) collet_fail(err, COLLET_INVALID, __VA_ARGS__)

void graph_free(graph *g)
{
    free(g->nodes);
    free(g->next);
    *g = (graph){0};
}

/* ---- Nodes ------------------------------------------------------------------------------- */

static collet_status grow(graph *g, collet_error *err)
{
    uint32_t capacity = g->capacity ? 2 * g->capacity : 32;
    if (g->count == COLLET_EXPRESSION_VALUES)
        return REFUSE("the expression has more than %d values; divide it into several expressions",
                      COLLET_EXPRESSION_VALUES);
    if (g->count < g->capacity)
        return COLLET_OK;
    node *nodes = realloc(g->nodes, capacity * sizeof *nodes);
    if (nodes)
        g->nodes = nodes;
    uint32_t *next = nodes ? realloc(g->next, capacity * sizeof *next) : NULL;
    if (next)
        g->next = next;
    if (!nodes || !next)
        return collet_fail(err, COLLET_NO_MEMORY, "out of memory for an expression");
    g->capacity = capacity;
    return COLLET_OK;
}

static uint32_t bucket_of(const node *n)
{
    uint64_t re, im, hash = n->kind + 31u * n->op + 7u * (uint32_t)n->dtype;
    memcpy(&re, &n->value.re, sizeof re);
    memcpy(&im, &n->value.im, sizeof im);
    re ^= (uint64_t)n->value.integer;
    im ^= (uint64_t)(n->value.integer >> 64);
    for (uint32_t i = 0; i < 3; i++)
        hash = hash * 1000003u + n->in[i];
    hash = (hash ^ re) * 0x9e3779b97f4a7c15u ^ im * 0xc2b2ae3d27d4eb4fu;
    return (uint32_t)(hash >> 40) % 512;
}

/* Nodes are zeroed before they are filled in, so equal nodes have equal bytes. */
static collet_status add(graph *g, uint32_t *value, const node *n, int shared, collet_error *err)
{
    uint32_t b = bucket_of(n);
    for (uint32_t at = shared ? g->bucket[b] : 0; at; at = g->next[at - 1])
        if (!memcmp(&g->nodes[at - 1], n, sizeof *n)) {
            *value = at - 1;
            return COLLET_OK;
        }
    collet_status status = grow(g, err);
    if (status != COLLET_OK)
        return status;
    memcpy(&g->nodes[g->count], n, sizeof *n);
    g->next[g->count] = g->bucket[b];
    *value = g->count++;
    g->bucket[b] = *value + 1;
    return COLLET_OK;
}

static node zeroed(node_kind kind)
{
    node n;
    memset(&n, 0, sizeof n);
    n.kind = (uint8_t)kind;
    return n;
}

/* Compares the members, not the padding. */
static void set_number(node *n, const literal *number)
{
    n->value.integer = number->integer;
    n->value.re = number->re;
    n->value.im = number->im;
    n->value.dtype = number->dtype;
}

static int name_is_valid(const char *name, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        int letter = (name[i] >= 'a' && name[i] <= 'z') || (name[i] >= 'A' && name[i] <= 'Z');
        if (!letter && name[i] != '_' && !(i && name[i] >= '0' && name[i] <= '9'))
            return 0;
    }
    return length < GRAPH_NAME;
}

collet_status graph_input(graph *g, uint32_t *value, const char *name, size_t length,
                          collet_dtype dtype, collet_error *err)
{
    node n = zeroed(NODE_INPUT);
    if (dtype != COLLET_DTYPE_NONE && !collet_dtype_size(dtype))
        return collet_fail(err, COLLET_DTYPE, "%d is not a dtype", (int)dtype);
    if (!name_is_valid(name, length))
        return REFUSE("'%.*s' is not a valid name of an input: use letters, digits and '_', at most %d",
                      (int)(length < 80 ? length : 80), name, GRAPH_NAME - 1);
    for (uint32_t i = 0; length && i < g->input_count; i++)
        if (strlen(g->names[i]) == length && !memcmp(g->names[i], name, length))
            return REFUSE("there is an input '%s' already", g->names[i]);
    if (g->input_count == COLLET_EXPRESSION_INPUTS)
        return REFUSE("there are more than %d inputs", COLLET_EXPRESSION_INPUTS);
    n.dtype = dtype;
    n.op = g->input_count;
    collet_status status = add(g, value, &n, 0, err);
    if (status != COLLET_OK)
        return status;
    memcpy(g->names[g->input_count], name, length);
    g->names[g->input_count][length] = '\0';
    g->inputs[g->input_count++] = *value;
    return COLLET_OK;
}

uint32_t graph_find(const graph *g, const char *name, uint32_t first)
{
    uint32_t i = 0;
    if (first < g->input_count && !strcmp(g->names[first], name))
        return first;
    while (i < g->input_count && strcmp(g->names[i], name) != 0)
        i++;
    return i;
}

collet_status graph_check_number(const collet_scalar *s, int weak, collet_error *err)
{
    if (!s || !collet_dtype_size(s->dtype))
        return collet_fail(err, COLLET_DTYPE, "the constant is NULL or has no dtype");
    if (weak && s->dtype != COLLET_I64 && s->dtype != COLLET_U64 && s->dtype != COLLET_F64 &&
        s->dtype != COLLET_C128 && s->dtype != COLLET_BOOL)
        return collet_fail(err, COLLET_DTYPE,
                           "a weak constant is i64, u64, f64, c128 or bool, and this one is %s",
                           collet_dtype_name(s->dtype));
    return COLLET_OK;
}

static collet_status add_number(graph *g, uint32_t *value, node_kind kind, const literal *number,
                                int weak, collet_error *err)
{
    node n = zeroed(kind);
    set_number(&n, number);
    n.weak = weak != 0;
    return add(g, value, &n, kind == NODE_LITERAL, err);
}

collet_status graph_constant(graph *g, uint32_t *value, const collet_scalar *s, int weak,
                             collet_error *err)
{
    collet_status status = graph_check_number(s, weak, err);
    if (status != COLLET_OK)
        return status;
    const literal number = literal_read(s, weak);
    return add_number(g, value, NODE_CONSTANT, &number, weak, err);
}

collet_status graph_set_constant(graph *g, uint32_t value, const collet_scalar *s,
                                 collet_error *err)
{
    if (value >= g->count || g->nodes[value].kind != NODE_CONSTANT)
        return REFUSE("value %u is not a constant", value);
    node *n = &g->nodes[value];
    const literal number = literal_read(s, n->weak);
    if (number.dtype != n->value.dtype)
        return collet_fail(err, COLLET_DTYPE, "the constant is %s; it must stay %s",
                           collet_dtype_name(s->dtype), collet_dtype_name(n->value.dtype));
    set_number(n, &number);
    return COLLET_OK;
}

collet_status graph_literal(graph *g, uint32_t *value, const literal *number, collet_error *err)
{
    return add_number(g, value, NODE_LITERAL, number, 1, err);
}

int graph_is(const graph *g, uint32_t value, double number)
{
    return g->nodes[value].kind == NODE_LITERAL && literal_is(&g->nodes[value].value, number);
}

/* ---- Functions --------------------------------------------------------------------------- */

/* Simplifies x + 0, x * 1 and the like: sets *value and returns 1, or makes *op and `in` simpler. This is done only
 * for derivatives, because elsewhere x + 0 changes -0, and x * 0 may be NaN. */
static int simpler(const graph *g, uint32_t *value, uint32_t *op, uint32_t *in, uint32_t *count)
{
    int zero[2] = {0}, one[2] = {0};
    for (uint32_t i = 0; i < 2 && i < *count; i++) {
        zero[i] = graph_is(g, in[i], 0.0);
        one[i] = graph_is(g, in[i], 1.0);
    }
    uint32_t keep = 3; /* the operand that is the result */
    int negates = 0;
    switch (*op) {
    case COLLET_OP_ADD:
        keep = zero[1] ? 0 : zero[0] ? 1 : 3;
        break;
    case COLLET_OP_SUB:
        keep = zero[1] ? 0 : 3;
        negates = zero[0] && keep == 3;
        break;
    case COLLET_OP_MUL:
        keep = one[1] || zero[0] ? 0 : one[0] || zero[1] ? 1 : 3;
        if (keep == 3 && graph_is(g, in[0], -1.0))
            negates = 1;
        break;
    case COLLET_OP_DIV:
    case COLLET_OP_POW:
        keep = one[1] || (zero[0] && *op == COLLET_OP_DIV) ? 0 : 3;
        break;
    case COLLET_OP_NEG:
        if (zero[0])
            keep = 0;
        else if (g->nodes[in[0]].kind == NODE_APPLY && g->nodes[in[0]].op == COLLET_OP_NEG) {
            *value = g->nodes[in[0]].in[0];
            return 1;
        }
        break;
    case COLLET_OP_WHERE:
        keep = in[1] == in[2] ? 1 : 3;
        break;
    default:
        break;
    }
    if (negates) {
        *op = COLLET_OP_NEG;
        in[0] = in[1];
        in[1] = 0;
        *count = 1;
    }
    if (keep < 3)
        *value = in[keep];
    return keep < 3;
}

/* Replaces integer literals by real literals. */
static collet_status make_real(graph *g, uint32_t *in, literal *numbers, uint32_t count,
                               collet_error *err)
{
    collet_status status = COLLET_OK;
    for (uint32_t i = 0; i < count && status == COLLET_OK; i++) {
        literal_make_real(&numbers[i]);
        status = graph_literal(g, &in[i], &numbers[i], err);
    }
    return status;
}

/* Computes a function of literals. UNSUPPORTED: it stays a function. In a derivative an invalid operation is not an
 * error of the user: the derivative of x / 0 contains 1 / 0, which is infinite like the value. */
static collet_status fold_literals(graph *g, uint32_t *value, uint32_t op, uint32_t *in,
                                   uint32_t count, collet_error *err)
{
    literal numbers[3] = {{0}}, made;
    for (uint32_t i = 0; i < count; i++)
        numbers[i] = g->nodes[in[i]].value;
    collet_status status = fold(op, numbers, count, &made, err);
    if (status == COLLET_INVALID && g->simplify) {
        status = make_real(g, in, numbers, count, err);
        if (status == COLLET_OK)
            status = fold(op, numbers, count, &made, err);
        if (status == COLLET_INVALID)
            return COLLET_UNSUPPORTED;
    }
    return status == COLLET_OK ? graph_literal(g, value, &made, err) : status;
}

collet_status graph_apply(graph *g, uint32_t *value, uint32_t op, const uint32_t *operands,
                          uint32_t count, collet_error *err)
{
    const elementwise *e = elementwise_of(op);
    uint32_t in[3] = {0};
    if (!e)
        return REFUSE("the op %u is not elementwise", op);
    if (count != e->inputs || !operands)
        return REFUSE("%s takes %u operands, and there are %u", e->name, e->inputs, count);
    int fixed = 1;
    for (uint32_t i = 0; i < count; i++) {
        in[i] = operands[i];
        if (in[i] >= g->count)
            return REFUSE("operand %u of %s is the value %u; the expression has %u", i, e->name,
                          in[i], g->count);
        fixed &= g->nodes[in[i]].kind == NODE_LITERAL;
    }
    collet_status status = fixed ? fold_literals(g, value, op, in, count, err) : COLLET_UNSUPPORTED;
    if (status != COLLET_UNSUPPORTED)
        return status;
    if (g->simplify && simpler(g, value, &op, in, &count))
        return COLLET_OK;
    node n = zeroed(NODE_APPLY);
    n.op = op;
    n.count = (uint16_t)count;
    memcpy(n.in, in, sizeof in);
    return add(g, value, &n, 1, err);
}

collet_status graph_convert(graph *g, uint32_t *value, node_kind kind, uint32_t in, uint32_t like,
                            collet_dtype dtype, collet_error *err)
{
    node n = zeroed(kind);
    if (in >= g->count)
        return REFUSE("the operand is the value %u; the expression has %u", in, g->count);
    if (kind == NODE_CONVERT && !collet_dtype_size(dtype))
        return collet_fail(err, COLLET_DTYPE, "%d is not a dtype", (int)dtype);
    n.count = kind == NODE_LIKE ? 2 : 1;
    n.in[0] = in;
    n.in[1] = like;
    n.dtype = dtype;
    return add(g, value, &n, 1, err);
}

collet_status graph_reduce_rows(graph *g, uint32_t *value, uint32_t op, uint32_t in,
                                double correction, collet_error *err)
{
    const literal number = {.dtype = COLLET_F64, .re = correction};
    node n = zeroed(NODE_ROWS);
    if (!program_is_reduction(op))
        return REFUSE("the op %u is not a reduction over axes", op);
    if (in >= g->count)
        return REFUSE("the operand is the value %u; the expression has %u", in, g->count);
    n.op = op;
    n.count = program_corrects(op) ? 2 : 1;
    n.in[0] = in;
    collet_status status =
        n.count > 1 ? graph_literal(g, &n.in[1], &number, err) : COLLET_OK;
    return status == COLLET_OK ? add(g, value, &n, 1, err) : status;
}

/* ---- Results ----------------------------------------------------------------------------- */

collet_status graph_output(graph *g, uint32_t value, collet_error *err)
{
    if (value >= g->count)
        return REFUSE("output %u is the value %u; the expression has %u", g->output_count, value,
                      g->count);
    if (g->output_count == COLLET_EXPRESSION_OUTPUTS)
        return REFUSE("there are more than %d outputs", COLLET_EXPRESSION_OUTPUTS);
    g->outputs[g->output_count++] = value;
    return COLLET_OK;
}

collet_status graph_reduce(graph *g, uint32_t op, const int32_t *axes, int32_t count,
                           int32_t keepdims, double correction, collet_error *err)
{
    if (!program_is_reduction(op))
        return REFUSE("the op %u is not a reduction over axes", op);
    if (axes && (count < 0 || count > COLLET_MAX_DIMS))
        return REFUSE("there are %d axes; an array has at most %d", count, COLLET_MAX_DIMS);
    g->reduce = op;
    g->axis_count = axes ? count : -1;
    for (int32_t i = 0; i < g->axis_count; i++)
        g->axes[i] = axes[i];
    g->keepdims = keepdims != 0;
    g->correction = correction;
    return COLLET_OK;
}

collet_status graph_copy(graph *to, const graph *from, collet_error *err)
{
    *to = *from;
    to->nodes = calloc(from->capacity + 1u, sizeof *to->nodes);
    to->next = calloc(from->capacity + 1u, sizeof *to->next);
    if (!to->nodes || !to->next) {
        graph_free(to);
        return collet_fail(err, COLLET_NO_MEMORY, "out of memory for an expression");
    }
    if (from->count) {
        memcpy(to->nodes, from->nodes, from->count * sizeof *to->nodes);
        memcpy(to->next, from->next, from->count * sizeof *to->next);
    }
    to->output_count = 0;
    to->reduce = COLLET_NO_OP;
    return COLLET_OK;
}
