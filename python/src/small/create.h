/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of the module that make Arrays in the host's memory: asarray(object) of a NumPy array or a list, filled(shape,
 * number, dtype), arange(start, stop, step) of integers, eye(n), astype(x, dtype). */
#pragma once

#include "src/base/python.h"

PyObject *create_from(PyObject *module, PyObject *object);
PyObject *create_filled(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *create_converted(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *create_range(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *create_eye(PyObject *module, PyObject *const *arguments, Py_ssize_t count, PyObject *names);
