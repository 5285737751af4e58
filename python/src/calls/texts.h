/* SPDX-License-Identifier: Apache-2.0 */
/* collet.evaluate. */
#pragma once

#include "src/base/python.h"

/* The function collet.evaluate of the module. */
PyObject *texts_evaluate(PyObject *module, PyObject *const *arguments, Py_ssize_t count,
                         PyObject *keywords);
/* clang-format off */
#define TEXTS_DOC \
    "evaluate(text, names=None, /, *, out=None)\n" \
    "--\n" \
    "\n" \
    "The value of an expression, computed in one pass over memory:\n" \
    "\n" \
    ">>> r, a = np.array([1.0, 3.0]), np.array([2.0, 4.0])\n" \
    ">>> collet.evaluate(\"where(r < 2, a*r + 1, 0)\")\n" \
    "array([3., 0.])\n" \
    "\n" \
    "Names are local or global variables of the caller, or items of the mapping `names`. NumPy\n" \
    "arrays give a NumPy array; if a collet.Array is among them, they give Arrays. Python's numbers\n" \
    "take the dtype of the arrays, as in NumPy 2; other values compile nothing again. Outputs that are\n" \
    "separated by ';' give a tuple. A reduction may stand around a whole output: sum(a*b, axis=0).\n" \
    "`out` is an array for the result, or a tuple of arrays, and may be an input.\n" \
    "\n" \
    "docs/expressions.md describes the text and the dtypes. collet.InvalidError names the column\n" \
    "of a mistake, NameError (KeyError with `names`) a name without a value."
/* clang-format on */
