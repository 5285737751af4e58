/* SPDX-License-Identifier: Apache-2.0 */
/* Elements of small Arrays by masks and by arrays of indices, and where elements are not 0. */
#pragma once

#include "src/base/python.h"

/* array[key] and array[key] = number, for a key that is an Array. A new reference; None: use the general function.
 * NULL with an exception. select_assign returns True if it has stored the number. */
PyObject *select_read(PyObject *array, PyObject *key);
PyObject *select_assign(PyObject *array, PyObject *key, PyObject *value);

/* Functions of the module: take(x, indices, /, *, axis=None), nonzero(x), count_nonzero(x). */
PyObject *select_take(PyObject *module, PyObject *const *arguments, Py_ssize_t count,
                      PyObject *names);
PyObject *select_nonzero(PyObject *module, PyObject *const *arguments, Py_ssize_t count,
                         PyObject *names);
PyObject *select_count(PyObject *module, PyObject *const *arguments, Py_ssize_t count,
                       PyObject *names);
