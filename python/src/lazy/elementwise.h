/* SPDX-License-Identifier: Apache-2.0 */
/* The elementwise functions of collet, such as collet.add. All functions need the GIL. */
#pragma once

#include "function.h"

int elementwise_add_type(PyObject *module);

/* The object of a Python function such as collet.add; NULL with an exception. */
elementwise *elementwise_get(PyObject *function);

/* Calls the function with `in`. The result is an Array, which may be computed later (lazy). If `out` is neither NULL
 * nor None, the result is written to it. */
PyObject *elementwise_apply(elementwise *f, PyObject *const *in, PyObject *out);

/* Functions of the module. elementwise(name, doc, inputs, single, general, dtypes, powers, sides, lazy)
 * makes a function (function.h describes the arguments). astype(array, dtype): an Array that waits for its
 * conversion, or None if it has to be converted at once. */
PyObject *elementwise_make(PyObject *module, PyObject *arguments);
PyObject *elementwise_convert(PyObject *module, PyObject *arguments);

/* The slots of collet._core.Array for the operators, and their number in *count. */
extern const PyType_Slot operators_slots[];
