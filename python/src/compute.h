/* SPDX-License-Identifier: Apache-2.0 */
/* A call of an op, between its arguments and its results. */
#ifndef PYTHON_SRC_COMPUTE_H
#define PYTHON_SRC_COMPUTE_H

#include "op.h"
#include "operand.h"

typedef struct call {
    op_object *op;
    collet_context *context;
    PyObject *given[COLLET_MAX_OPERANDS]; /* arguments; NULL: absent or to be made */
    int absent[COLLET_MAX_OPERANDS];      /* 1: the caller does not need this output */
    PyObject *fields[OP_FIELDS];
    PyObject *out, *dtype, *shape;
    int device; /* 1: the results are Arrays */
    operand operands[COLLET_MAX_OPERANDS];
    _Alignas(16) unsigned char params[OP_PARAMS];
} call;

/* Makes the outputs that the caller did not give, and computes. 0, or -1 with an exception. */
int call_compute(call *c);

#endif
