/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluations of expressions. All functions need the GIL. */
#pragma once

#include <collet/expression.h>

#include "operand.h"
#include "src/array/value.h"

typedef struct expression_object {
    PyObject_HEAD collet_expression *handle;
    PyObject *text;  /* NULL: the expression was built by calls */
    PyObject *names; /* a tuple of the inputs' interned names; NULL: to be made, after a change */
    uint32_t users; /* running evaluations: while there are any, the expression cannot be changed */
} expression_object;

/* Converts a Python number (bool, int, float, complex) to *s. The number is weak: it takes the dtype of the arrays.
 * 1; 0: the object is no such number; -1 with an exception that calls it `name`. */
int evaluate_number(PyObject *object, const char *name, collet_scalar *s);

/* Takes an input of an expression: an array, or a number, which is weak. 0, or -1 with an exception that calls it
 * `name`. */
int evaluate_input(operand *o, PyObject *given, const char *name);

/* Evaluates with `given`, an array or a number for each input. `out`: NULL, None, an array, or a tuple with an array or
 * None for each output. `reads`: the snapshot of a lazy evaluation, or NULL. Returns an array or a tuple of arrays;
 * NotImplemented: memory of `reads` was written since the snapshot; NULL with an exception. */
PyObject *evaluate_expression(expression_object *e, PyObject *const *given, PyObject *out,
                              const snapshot *reads);
