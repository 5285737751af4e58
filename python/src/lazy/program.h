/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes as a program: an Expression and what it is given. All functions need the GIL. */
#ifndef PYTHON_SRC_LAZY_PROGRAM_H
#define PYTHON_SRC_LAZY_PROGRAM_H

#include "../evaluate.h"
#include "node.h"

#define PROGRAM_NODES (NODE_INPUTS * NODE_LIMIT)
#define PROGRAM_KEY 8192

typedef struct reduction {
    uint32_t op;    /* COLLET_OP_SUM; 0: none */
    PyObject *axes; /* an integer, a sequence of them, or None */
    int keepdims;
    double correction;
} reduction;

typedef struct program {
    node *order[PROGRAM_NODES]; /* inputs first, the root last; not references */
    uint32_t n_nodes;
    node *outs[COLLET_EXPRESSION_OUTPUTS]; /* references; the root first */
    uint32_t n_outs;
    PyObject *given[COLLET_EXPRESSION_INPUTS];    /* references: Arrays and numbers */
    lazy_value *values[COLLET_EXPRESSION_INPUTS]; /* of the Arrays */
    uint32_t n_given;
    unsigned char key[PROGRAM_KEY]; /* identifies the program */
    uint32_t key_size;
} program;

/* The program of the nodes below the root. 0, or -1 with an exception. program_end follows. */
int program_begin(program *p, node *root);
/* Makes the value of a node of the program an output. */
void program_output(program *p, node *n);
void program_drop_outputs(program *p);
void program_end(program *p);

/* The Expression of the program, which is kept for later programs with the same key. A new reference;
 * NULL with an exception. */
expression_object *program_expression(program *p, const reduction *r);

#endif
