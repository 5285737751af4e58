/* SPDX-License-Identifier: Apache-2.0 */
/* Comparisons of integers with ints of Python that their dtype does not hold. All functions need the GIL. */
#ifndef PYTHON_SRC_LAZY_COMPARISON_H
#define PYTHON_SRC_LAZY_COMPARISON_H

#include "src/base/python.h"

/* Whether the function with this name compares. */
int comparison_is(PyObject *name);

/* The result for two operands, if one is such an int; else NULL, with an exception if one was raised. */
PyObject *comparison_beyond(PyObject *name, PyObject *const *in);

#endif
