/* SPDX-License-Identifier: Apache-2.0 */
/* Comparisons of integers with ints of Python that have more than 64 bits. All functions need the GIL. */
#ifndef PYTHON_SRC_LAZY_COMPARISON_H
#define PYTHON_SRC_LAZY_COMPARISON_H

#include "src/base/python.h"

/* Whether the function with this name compares. */
int comparison_is(PyObject *name);

/* The index of such an int, if the other operand has integers: they compare with it as with an
 * infinity of the sign *sign, 1 or -1. -1: neither operand is such an int. */
int comparison_beyond(PyObject *const *in, int *sign);

#endif
