/* SPDX-License-Identifier: Apache-2.0 */
/* Comparisons of integers with ints of Python that have more than 64 bits. All functions need the GIL. */
#pragma once

#include "src/base/python.h"

/* Whether the function with this name is a comparison. */
int comparison_is(PyObject *name);

/* The index (0 or 1) of an operand that is an int beyond 64 bits, if the other operand has integers: they
 * compare with it as with an infinity of the sign *sign, 1 or -1. -1: there is no such operand. */
int comparison_beyond(PyObject *const *in, int *sign);
