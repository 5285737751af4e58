/* SPDX-License-Identifier: Apache-2.0 */
/* Copies elements of Arrays to and from NumPy arrays, bytes and devices. */
#pragma once

#include "src/base/python.h"

/* Adds the methods to_numpy, prefetch, _bytes and _write to the type Array. 0, or -1 with an exception. */
int transfer_add(void);

/* A method: the elements as bytes, in C order, after the work that computes them. */
PyObject *transfer_bytes(PyObject *self, PyObject *unused);
