/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes for functions of Arrays and numbers. */
#pragma once

#include "function.h"

/* Computes the function at once if its arguments are small computed Arrays and numbers, for which a node would cost
 * more than it saves. NULL with an exception, or without an exception for other arguments. */
PyObject *wait_not(elementwise *f, PyObject *const *in);

/* Makes a node of the function and its arguments. NULL with an exception, or without one if the function has to be
 * computed at once. */
node *wait_for(elementwise *f, PyObject *const *in);

/* Function of the module: sets the number of elements from which on Arrays wait; returns the earlier number. */
PyObject *wait_from(PyObject *module, PyObject *elements);
