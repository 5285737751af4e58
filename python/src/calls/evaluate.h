/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluations of expressions. All functions need the GIL. */
#ifndef PYTHON_SRC_CALLS_EVALUATE_H
#define PYTHON_SRC_CALLS_EVALUATE_H

#include <collet/expression.h>

#include "src/array/value.h"

typedef struct expression_object {
    PyObject_HEAD collet_expression *handle;
    PyObject *text;  /* NULL: made by calls */
    PyObject *names; /* a tuple of the inputs' interned names; NULL: not made since a change */
    uint32_t users;  /* evaluations at work, during which nothing is added */
} expression_object;

/* A number of Python (bool, int, float, complex), which is weak. 1; 0: the object is none; -1 with
 * an exception, for which `name` is. */
int evaluate_number(PyObject *object, const char *name, collet_scalar *s);

/* Evaluates with `given`, an array or a number for each input. `out`: NULL, None, an array, or a
 * tuple with an array or None for each output. `reads`: of a lazy evaluation, or NULL. An array or a tuple
 * of arrays; NotImplemented: `reads` does not hold any more; NULL with an exception. */
PyObject *evaluate_expression(expression_object *e, PyObject *const *given, PyObject *out,
                              const snapshot *reads);

#endif
