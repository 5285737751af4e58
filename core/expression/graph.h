/* SPDX-License-Identifier: Apache-2.0 */
/* The graph of an expression: values, ordered so that each value uses only earlier values. */
#pragma once

#include <collet/expression.h>

#include "util/literal.h"

#define GRAPH_NAME 64

typedef enum node_kind {
    NODE_INPUT,
    NODE_CONSTANT,
    NODE_LITERAL, /* a constant that does not change */
    NODE_APPLY,   /* op of in[] */
    NODE_CONVERT, /* in[0], in `dtype` */
    NODE_LIKE,    /* in[0], in the dtype of in[1] if that is not an integer or bool */
    NODE_ROWS,    /* in[0], reduced by `op` along the last axis; in[1]: the correction of var and std */
} node_kind;

typedef struct node {
    uint8_t kind;
    uint8_t weak;   /* a number for which Python's rules hold */
    uint16_t count; /* operands */
    uint32_t op;
    uint32_t in[3];
    collet_dtype dtype; /* NODE_INPUT: the only dtype allowed, or none; NODE_CONVERT: the target */
    literal value;
} node;

typedef struct graph {
    node *nodes;
    uint32_t count, capacity;
    uint32_t *next;       /* for each node, 1 + the next node in the same bucket */
    uint32_t bucket[512]; /* 1 + the first node */
    int simplify;         /* 1: graph_apply simplifies as derivatives need it */
    int derivative;       /* 1: if an integer has too many bits, or a divisor is 0, the numbers become real */
    uint32_t input_count, output_count;
    uint32_t inputs[COLLET_EXPRESSION_INPUTS], outputs[COLLET_EXPRESSION_OUTPUTS];
    char names[COLLET_EXPRESSION_INPUTS][GRAPH_NAME];
    uint32_t reduce;                                     /* an op, or COLLET_NO_OP */
    int32_t axes[COLLET_MAX_DIMS], axis_count, keepdims; /* axis_count -1: all axes */
    double correction;
} graph;

void graph_free(graph *g);

/* Each function adds a value, or finds an equal value, and stores its number. INVALID, NO_MEMORY; the caller
 * puts the name of its function before the text. */
collet_status graph_input(graph *g, uint32_t *value, const char *name, size_t length,
                          collet_dtype dtype, collet_error *err);
collet_status graph_constant(graph *g, uint32_t *value, const collet_scalar *s, int weak,
                             collet_error *err);
collet_status graph_set_constant(graph *g, uint32_t value, const collet_scalar *s,
                                 collet_error *err);
collet_status graph_check_number(const collet_scalar *s, int weak, collet_error *err);
collet_status graph_literal(graph *g, uint32_t *value, const literal *number, collet_error *err);
collet_status graph_apply(graph *g, uint32_t *value, uint32_t op, const uint32_t *in,
                          uint32_t count, collet_error *err);
collet_status graph_convert(graph *g, uint32_t *value, node_kind kind, uint32_t in, uint32_t like,
                            collet_dtype dtype, collet_error *err);

collet_status graph_reduce_rows(graph *g, uint32_t *value, uint32_t op, uint32_t in,
                                double correction, collet_error *err);

collet_status graph_output(graph *g, uint32_t value, collet_error *err);
collet_status graph_reduce(graph *g, uint32_t op, const int32_t *axes, int32_t count,
                           int32_t keepdims, double correction, collet_error *err);

/* The number of the input of this name, first compared with input `first`; input_count: there is
 * none. */
uint32_t graph_find(const graph *g, const char *name, uint32_t first);

/* Copies everything but the outputs and the reduction. */
collet_status graph_copy(graph *to, const graph *from, collet_error *err);

/* 1 if the value is a literal of this number. */
int graph_is(const graph *g, uint32_t value, double number);
