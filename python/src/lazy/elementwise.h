/* SPDX-License-Identifier: Apache-2.0 */
/* The elementwise functions of collet: collet.add. All functions need the GIL. */
#ifndef PYTHON_SRC_LAZY_ELEMENTWISE_H
#define PYTHON_SRC_LAZY_ELEMENTWISE_H

#include "function.h"

int elementwise_add_type(PyObject *module);

/* The type's object of a function that collet.add is; NULL with an exception. */
elementwise *elementwise_get(PyObject *function);

/* The function of `in`, which may wait; into `out` unless that is NULL or None. */
PyObject *elementwise_apply(elementwise *f, PyObject *const *in, PyObject *out);

/* Functions of the module: elementwise(name, doc, inputs, single, general, dtypes, powers, sides, lazy)
 * makes a function; astype(array, dtype): a conversion that waits. */
PyObject *elementwise_make(PyObject *module, PyObject *arguments);
PyObject *elementwise_convert(PyObject *module, PyObject *arguments);

/* The slots of collet._core.Array for the operators; count of them in *count. */
const PyType_Slot *operators_slots(size_t *count);

#endif
