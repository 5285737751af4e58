/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes for functions of Arrays and numbers. */
#ifndef PYTHON_SRC_LAZY_WAIT_H
#define PYTHON_SRC_LAZY_WAIT_H

#include "function.h"

/* A node of the function. NULL: with an exception, or without one if it is to be computed at once. */
node *wait_for(elementwise *f, PyObject *const *in);

#endif
