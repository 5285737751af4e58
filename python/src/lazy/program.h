/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes as a program: an Expression, or single functions, and what they are given.
 *
 * The rule: an evaluation works on a copy. program_begin copies the nodes below a root under the GIL, makes no
 * Python object and drops no reference, so that no other code runs meanwhile: the garbage collector, a
 * finalizer, the handler of a signal and other threads find nodes without any state of an evaluation. Later
 * steps (objects for inputs, compiling, computing, publishing) may run such code. That code may evaluate
 * the same nodes or write their inputs. Therefore each call of a program checks first, with no code of
 * Python
 * before the computation, that nothing it reads was written since the copy, and pins it: a write waits until
 * the call has read. If something was written, the nodes that read it have values by then, and the caller
 * copies again. All functions need the GIL.
 */
#ifndef PYTHON_SRC_LAZY_PROGRAM_H
#define PYTHON_SRC_LAZY_PROGRAM_H

#include "src/calls/evaluate.h"
#include "src/array/node.h"

#define PROGRAM_NODES (NODE_INPUTS * NODE_LIMIT)
#define PROGRAM_PLACES 512 /* a power of two, at least twice the nodes */
#define PROGRAM_KEY 8192

#define STEP_GIVEN 1024    /* a source from here on is something given */
#define STEP_CONSTANT 2048 /* the step's own number */

typedef struct reduction {
    uint32_t op;    /* COLLET_OP_SUM */
    PyObject *axes; /* an integer, a sequence of them, or None */
    int keepdims;
    double correction;
} reduction;

/* A function of earlier steps, inputs and a constant. */
typedef struct step {
    elementwise *function;      /* a reference; NULL: converts to `dtype`, or reduces */
    const reduction *reduction; /* of the last step alone; NULL: elementwise */
    PyObject *number;           /* a reference, to a constant among the inputs; else NULL */
    collet_dtype dtype;
    uint32_t n_in;
    uint16_t from[NODE_INPUTS]; /* an earlier step, STEP_GIVEN + a number, or STEP_CONSTANT */
} step;

typedef struct program {
    node *nodes[PROGRAM_NODES]; /* references: inputs first, the root last */
    step steps[PROGRAM_NODES + 1]; /* of the nodes, and a reduction */
    uint32_t n_nodes, n_steps;
    uint16_t places[PROGRAM_PLACES]; /* the numbers of the nodes + 1, by their addresses; 0: none */
    uint32_t mask;                   /* places in use - 1 */
    uint32_t outs[COLLET_EXPRESSION_OUTPUTS]; /* steps; the last one first */
    uint32_t n_outs;
    lazy_value *values[COLLET_EXPRESSION_INPUTS]; /* references; NULL: a number */
    PyObject *given[COLLET_EXPRESSION_INPUTS];    /* references: numbers, and Arrays once they are needed */
    uint32_t n_given;
    snapshot reads;                 /* of the values */
    unsigned char key[PROGRAM_KEY]; /* identifies the program */
    uint32_t key_size;
} program;

/* Copies the nodes below the root, whose value is the first output. 0, or -1 with an exception. program_end
 * follows. */
int program_begin(program *p, node *root);
/* Makes the value of node `i` an output too. */
void program_output(program *p, uint32_t i);
/* Makes the reduction of the root, which is not an output then, the only output. `r` outlives the program.
 * 0, or -1 with an exception. */
int program_reduce(program *p, const reduction *r);
/* Drops the nodes: the steps are left. */
void program_forget_nodes(program *p);
void program_end(program *p);

/* Computes the outputs. `out`: NULL, or an array for the only output. An Array, or a tuple of Arrays; None: a
 * reduction is better called alone; NotImplemented: an input was written since program_begin, nothing was
 * computed; NULL with an exception. */
PyObject *program_run(program *p, PyObject *out);

#endif
