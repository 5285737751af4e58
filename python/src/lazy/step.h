/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of a lazy program; program.h defines programs. */
#pragma once

#include "src/calls/evaluate.h"
#include "src/array/node.h"

#define PROGRAM_NODES (NODE_INPUTS * NODE_LIMIT)
#define PROGRAM_PLACES 1024 /* a power of two, at least twice the nodes */
#define PROGRAM_KEY 16384

#define STEP_GIVEN 1024    /* in step.from: STEP_GIVEN + i is the given value i */
#define STEP_CONSTANT 2048 /* in step.from: the constant step.number */

typedef struct reduction {
    uint32_t op;    /* the number of the op: COLLET_OP_SUM */
    PyObject *axes; /* an integer, a sequence of integers, or None */
    int keepdims;
    double correction;
} reduction;

/* A function whose arguments are earlier steps, given values and at most one constant. */
typedef struct step {
    elementwise *function;      /* a reference; NULL: converts to `dtype`, or reduces */
    const reduction *reduction; /* only the last step may have a reduction; NULL: elementwise */
    PyObject *number;           /* a reference to the constant among the arguments, or NULL */
    uint32_t reduces;           /* as in a node */
    double correction;
    uint8_t narrow; /* 1: one element per row, in a program with `full` */
    collet_dtype dtype;
    uint32_t n_in;
    uint16_t
        from[NODE_INPUTS]; /* the arguments: an earlier step, STEP_GIVEN + i, or STEP_CONSTANT */
} step;

typedef struct program {
    node *nodes[PROGRAM_NODES];    /* references: inputs first, the root last */
    step steps[PROGRAM_NODES + 1]; /* a step for each node, and one for a reduction */
    uint32_t n_nodes, n_steps;
    uint16_t
        places[PROGRAM_PLACES]; /* a hash table from a node's address to its number + 1; 0: empty */
    uint32_t mask;              /* the number of places in use, a power of two, minus 1 */
    uint32_t outs[COLLET_EXPRESSION_OUTPUTS]; /* the steps that are outputs; the root first */
    uint32_t n_outs;
    lazy_value
        *values[COLLET_EXPRESSION_INPUTS]; /* references: the given values; NULL for a number */
    PyObject *given
        [COLLET_EXPRESSION_INPUTS]; /* references: numbers; Arrays are made before the computation */
    uint8_t columns[COLLET_EXPRESSION_INPUTS]; /* 1: a value without the axis of the rows, which gets it with extent 1 */
    uint32_t n_given;
    int by_rows; /* 1: the steps have two shapes, with reductions of rows between them */
    collet_array_spec full; /* then: the shape of steps that are not narrow */
    snapshot reads;         /* the memories of the values */
    unsigned char key
        [PROGRAM_KEY]; /* describes the steps: programs with equal keys use the same Expression */
    uint32_t key_size;
} program;
