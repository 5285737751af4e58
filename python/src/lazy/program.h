/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes as a program: an Expression, or single functions, and what they are given. All functions need the
 * GIL. */
#ifndef PYTHON_SRC_LAZY_PROGRAM_H
#define PYTHON_SRC_LAZY_PROGRAM_H

#include "src/calls/evaluate.h"
#include "src/array/node.h"

#define PROGRAM_NODES (NODE_INPUTS * NODE_LIMIT)
#define PROGRAM_KEY 8192

#define STEP_GIVEN 1024    /* a source from here on is something given */
#define STEP_CONSTANT 2048 /* the step's own number */

/* A node, which may change while the GIL is released. */
typedef struct step {
    elementwise *function; /* a reference; NULL: converts to `dtype` */
    PyObject *number;      /* a reference, to a constant among the inputs; else NULL */
    collet_dtype dtype;
    uint32_t n_in;
    uint16_t from[NODE_INPUTS]; /* an earlier step, STEP_GIVEN + a number, or STEP_CONSTANT */
} step;

typedef struct reduction {
    uint32_t op;    /* COLLET_OP_SUM; 0: none */
    PyObject *axes; /* an integer, a sequence of them, or None */
    int keepdims;
    double correction;
} reduction;

typedef struct program {
    node *nodes[PROGRAM_NODES]; /* references; inputs first, the root last */
    step steps[PROGRAM_NODES];
    uint32_t n_nodes;
    uint32_t outs[COLLET_EXPRESSION_OUTPUTS]; /* nodes; the root first */
    uint32_t n_outs;
    PyObject *given[COLLET_EXPRESSION_INPUTS];    /* references: Arrays and numbers */
    lazy_value *values[COLLET_EXPRESSION_INPUTS]; /* of the Arrays */
    uint32_t n_given;
    unsigned char key[PROGRAM_KEY]; /* identifies the program */
    uint32_t key_size;
} program;

/* The program of the nodes below the root. 0, or -1 with an exception. program_end follows. */
int program_begin(program *p, node *root);
/* Makes the value of node `i` an output. */
void program_output(program *p, uint32_t i);
/* Forgets the nodes, of which only the steps are left. */
void program_forget_nodes(program *p);
void program_end(program *p);

/* Computes the outputs; with a reduction the only one, reduced. `out`: NULL, or an array for the only output.
 * An Array, or a tuple of them; None: a reduction is better called alone; NULL with an exception. */
PyObject *program_run(program *p, const reduction *r, PyObject *out);

#endif
