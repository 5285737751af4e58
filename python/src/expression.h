/* SPDX-License-Identifier: Apache-2.0 */
/* collet.Expression, and its evaluation. All functions need the GIL. */
#ifndef PYTHON_SRC_EXPRESSION_H
#define PYTHON_SRC_EXPRESSION_H

#include "base/python.h"

#include <collet/expression.h>

typedef struct expression_object {
    PyObject_HEAD collet_expression *handle;
    PyObject *text;  /* NULL: made by calls */
    PyObject *names; /* a tuple of the inputs' interned names; NULL: not made since a change */
    uint32_t users;  /* evaluations at work, during which nothing is added */
} expression_object;

/* Adds the type to the module. 0, or -1 with an exception. */
int expression_add_type(PyObject *module);

int expression_check(PyObject *object);

/* A new expression from a text, in Python's str; from NULL an empty one. NULL with an exception. */
PyObject *expression_new(PyObject *text);

/* The names of the inputs, a borrowed tuple; NULL with an exception. */
PyObject *expression_names(expression_object *e);

/* Evaluates with `given`, an object for each input: an array, or a number of Python, which is weak.
 * `out`: NULL, None, an array, or a tuple with an array or None for each output. An array or a tuple
 * of arrays; NULL with an exception. */
PyObject *expression_evaluate(expression_object *e, PyObject *const *given, PyObject *out);

/* The function collet.evaluate of the module. */
PyObject *evaluate_text(PyObject *module, PyObject *const *arguments, Py_ssize_t count,
                        PyObject *keywords);
#define EVALUATE_DOC                                                                               \
    "evaluate(text, names=None, /, *, out=None)\n--\n\n"                                           \
    "The value of an expression, computed in one pass over memory:\n\n"                            \
    "    collet.evaluate(\"where(r < c, a*b + k*exp(d), 0)\")\n\n"                                 \
    "Names are local or global variables of the caller, or items of the mapping `names`. NumPy\n"  \
    "arrays give a NumPy array, a collet.Array among them gives Arrays. Python's numbers take\n"   \
    "the dtype of the arrays, as in NumPy 2; another value compiles nothing. Outputs that are\n"   \
    "separated by ';' are a tuple. A reduction may stand around a whole output: sum(a*b, "         \
    "axis=0).\n"                                                                                   \
    "`out` is an array for the result, or a tuple of arrays, and may be an input.\n\n"             \
    "docs/expressions.md describes the text and the dtypes. collet.InvalidError names the "        \
    "column\n"                                                                                     \
    "of what is wrong in the text, NameError (KeyError with `names`) a name without a value."

#endif
