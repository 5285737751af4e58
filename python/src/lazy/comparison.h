/* SPDX-License-Identifier: Apache-2.0 */
/* Comparisons of integers with ints of Python that have more than 64 bits. All functions need the GIL. */
#ifndef PYTHON_SRC_LAZY_COMPARISON_H
#define PYTHON_SRC_LAZY_COMPARISON_H

#include "src/base/python.h"

/* Whether the function with this name compares. */
int comparison_is(PyObject *name);

/* The place of such an int among two operands of which the other one has integers, which compare with an infinity as
 * with it; *sign is 1 or -1. -1: there is none. */
int comparison_beyond(PyObject *const *in, int *sign);

#endif
