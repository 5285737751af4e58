/* SPDX-License-Identifier: Apache-2.0 */
/* collet.Expression. All functions need the GIL. */
#ifndef PYTHON_SRC_CALLS_EXPRESSION_H
#define PYTHON_SRC_CALLS_EXPRESSION_H

#include "evaluate.h"

/* Adds the type to the module. 0, or -1 with an exception. */
int expression_add_type(PyObject *module);

int expression_check(PyObject *object);

/* A new expression from a text, in Python's str; from NULL an empty one. NULL with an exception. */
PyObject *expression_new(PyObject *text);

/* The number of an op by its name, or the number itself; 0 with an exception. */
uint32_t expression_op(PyObject *op);

/* Reduces the outputs over axes: an integer, a sequence of integers or None. A status with its text, or
 * with an exception. */
collet_status expression_reduce(expression_object *e, uint32_t op, PyObject *axes, int keepdims,
                                double correction, collet_error *err);

/* The names of the inputs, a borrowed tuple; NULL with an exception. */
PyObject *expression_names(expression_object *e);

#endif
