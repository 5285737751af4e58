/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of the module that copy elements of small Arrays: concat and stack (arrays, /, *, axis=0), repeat(x, n, /,
 * *, axis=None), tile(x, n), roll(x, n), copy(x), triangle(x, k, lower). */
#pragma once

#include "src/base/python.h"

PyObject *join_concat(PyObject *module, PyObject *const *arguments, Py_ssize_t count,
                      PyObject *names);
PyObject *join_stack(PyObject *module, PyObject *const *arguments, Py_ssize_t count,
                     PyObject *names);
PyObject *join_repeat(PyObject *module, PyObject *const *arguments, Py_ssize_t count,
                      PyObject *names);
PyObject *join_tile(PyObject *module, PyObject *const *arguments, Py_ssize_t count,
                    PyObject *names);
PyObject *join_roll(PyObject *module, PyObject *const *arguments, Py_ssize_t count,
                    PyObject *names);
PyObject *join_copy(PyObject *module, PyObject *x);
PyObject *join_triangle(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
