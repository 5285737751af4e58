/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes for functions of Arrays and numbers. */
#ifndef PYTHON_SRC_LAZY_WAIT_H
#define PYTHON_SRC_LAZY_WAIT_H

#include "function.h"

/* The function of small Arrays that are computed and of numbers, at once: a node would cost more than it
 * saves. NULL: with an exception, or without one if these are others. */
PyObject *wait_not(elementwise *f, PyObject *const *in);

/* A node of the function. NULL: with an exception, or without one if it is to be computed at once. */
node *wait_for(elementwise *f, PyObject *const *in);

/* Function of the module: Arrays of fewer elements are small; the number before. */
PyObject *wait_from(PyObject *module, PyObject *elements);

#endif
