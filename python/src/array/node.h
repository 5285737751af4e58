/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A node: an elementwise function of Arrays that is not computed yet. A node whose Array exists is pending; a node
 * that only other nodes read is computed as a part of these. A node stores no state of an evaluation (program.h says
 * why). All functions need the GIL.
 */
#pragma once

#include "value.h"

#define NODE_INPUTS 3
#define NODE_LIMIT 128      /* about the maximum of nodes below a pending node */
#define NODE_INPUT_LIMIT 60 /* about the maximum of their inputs; an expression has at most 64 */

typedef struct elementwise elementwise;

typedef enum input_kind {
    INPUT_NODE,
    INPUT_VALUE,
    INPUT_NUMBER,   /* an input of the program, which is compiled once for all numbers */
    INPUT_CONSTANT, /* a number that is a part of the program */
} input_kind;

typedef struct input {
    input_kind kind;
    node *node; /* references */
    lazy_value *value;
    PyObject *number;
    reader reader; /* this input in the list of readers of the node, or of the value's memory */
} input;

struct node {
    uint32_t refs;
    uint32_t n_in;
    elementwise *function; /* a reference; NULL: converts to the dtype of `spec`, or reduces */
    uint32_t reduces;      /* an op: reduces the last axis, which is kept with extent 1; 0: elementwise */
    double correction;     /* of the reduction */
    int flat;              /* 1: one element per row, and the axis of the rows is left out */
    int strided;           /* 1: an Array that it needs is not in C order */
    int64_t row;           /* the extent of the last axis that the node, or reductions below it, reduce; 0: none */
    input in[NODE_INPUTS];
    collet_array_spec spec;
    lazy_value *value;   /* NULL until the node is computed; afterwards the node has no inputs */
    PyObject *owner;     /* the Array of the node, not a reference; NULL: there is none */
    reader *readers;     /* nodes that read this one */
    node *next, **place; /* links in the list of pending nodes */
    uint64_t generation;
    uint32_t choice;        /* the choice of backend (choices.h) under which the node was made */
    uint32_t count, inputs; /* upper bounds of the numbers of nodes and inputs below this node */
    uint64_t visit;         /* the number of the last node_count that met this node */
    int seen;               /* 1: was computed as a part of another node, and the value was not kept */
    PyObject *code;         /* the place in the program that made the node: a code object and an offset, or NULL */
    PyObject *offset;
};

/* A node without inputs. NULL with an exception. */
node *node_new(elementwise *function, uint32_t choice);
void node_unref(node *n); /* NULL is accepted */
node *node_ref(node *n);

/* Adds an input, a node or value that exists. The node keeps a reference to it. */
void node_add_node(node *n, node *in);
void node_add_value(node *n, lazy_value *in); /* the memory of `in` must be known */
void node_add_number(node *n, PyObject *number, input_kind kind);

/* Counts the nodes below the roots, and their inputs, up to NODE_INPUT_LIMIT + 1. Each is counted once; n->count and
 * n->inputs count a node once for each path to it. */
void node_count(node *const *roots, uint32_t n_roots, uint32_t *nodes, uint32_t *inputs);

/* Sets the Array of the node. NULL: the Array no longer exists. */
void node_own(node *n, PyObject *owner);

/* Stores the value of the node and takes the reference to it; value_memory was called for the value. The readers of
 * the node then read the value. A node that has a value already keeps that value. The caller has a reference to the
 * node. */
void node_publish(node *n, lazy_value *v);

/* Drops the inputs of a node whose value nobody needs any more. */
void node_release(node *n);

int node_same_shape(const collet_array_spec *a, const collet_array_spec *b);

/* The pending node that was made last, or NULL. */
node *node_last_pending(void);
/* Bytes of the results of all pending nodes. */
int64_t node_owed(void);

/* A pending node that needs the reader's node, or the reader's node itself if that is pending. */
node *node_top(reader *r);

/* Stores in `code` and `offset` the place at which the calling thread runs; NULL if no Python code runs. */
void node_set_origin(node *n);
