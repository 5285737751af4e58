/* SPDX-License-Identifier: Apache-2.0 */
/* collet.Expression. All functions need the GIL. */
#pragma once

#include "evaluate.h"

/* Adds the type to the module. 0, or -1 with an exception. */
int expression_add_type(PyObject *module);

int expression_check(PyObject *object);

/* A new expression from a text (a str), or an empty one if `text` is NULL. NULL with an exception. */
PyObject *expression_new(PyObject *text);

/* The number of an op, from its name or from the number itself; 0 with an exception. */
uint32_t expression_op(PyObject *op);

/* Reduces the outputs over axes: an integer, a sequence of integers or None. On failure returns a status, with its text
 * in *err or with an exception. */
collet_status expression_reduce(expression_object *e, uint32_t op, PyObject *axes, int keepdims,
                                double correction, collet_error *err);

/* A borrowed reference to the tuple of the names of the inputs; NULL with an exception. */
PyObject *expression_names(expression_object *e);
