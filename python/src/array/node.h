/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A node: an elementwise function of Arrays that is not computed yet. A node whose Array exists is
 * pending; one that only other nodes read is a part of them. A node has no state of an evaluation (program.h
 * says why). All functions need the GIL.
 */
#ifndef PYTHON_SRC_ARRAY_NODE_H
#define PYTHON_SRC_ARRAY_NODE_H

#include "value.h"

#define NODE_INPUTS 3
#define NODE_LIMIT 64       /* nodes that wait for one value, about */
#define NODE_INPUT_LIMIT 60 /* values and numbers that they read; an expression has 64 inputs */

typedef struct elementwise elementwise;

typedef enum input_kind {
    INPUT_NODE,
    INPUT_VALUE,
    INPUT_NUMBER,   /* another number is the same program */
    INPUT_CONSTANT, /* is a part of the program */
} input_kind;

typedef struct input {
    input_kind kind;
    node *node; /* references */
    lazy_value *value;
    PyObject *number;
    reader reader; /* in the list of the node or of the value's memory */
} input;

struct node {
    uint32_t refs;
    uint32_t n_in;
    elementwise *function; /* a reference; NULL: converts to the dtype of `spec` */
    input in[NODE_INPUTS];
    collet_array_spec spec;
    lazy_value *value;   /* once it is computed; the inputs are then gone */
    PyObject *owner;     /* its Array, not a reference; NULL: none */
    reader *readers;     /* nodes that read this one */
    node *next, **place; /* among the pending nodes */
    uint64_t generation;
    uint32_t choice;        /* of a backend, where it was made */
    uint32_t count, inputs; /* nodes and inputs below this one, at least */
    int seen;               /* 1: was computed as a part of another without being kept */
    PyObject *code;         /* where it was made: a code object and an offset; may be NULL */
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

/* The Array of the node, or NULL: the Array is gone. */
void node_own(node *n, PyObject *owner);

/* Stores the value, whose memory is known and of which it takes the reference, unless the node has one;
 * the readers of the node have the value then. The caller has a reference to the node. */
void node_publish(node *n, lazy_value *v);

/* Drops the inputs of a node whose value nobody needs any more. */
void node_release(node *n);

int node_same_shape(const collet_array_spec *a, const collet_array_spec *b);

/* A pending node that was made last, or NULL. */
node *node_last_pending(void);
/* Bytes of the pending nodes. */
int64_t node_owed(void);

/* A pending node that needs the reader's node, or this node itself. */
node *node_top(reader *r);

/* Where the calling thread's frame is; both NULL: nowhere. */
void node_set_origin(node *n);

#endif
