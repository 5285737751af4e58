/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of the module for small vectors: interp(x, xp, fp), convolve(a, v, mode), median(x), diff(x),
 * gradient(f). */
#pragma once

#include "src/base/python.h"

PyObject *signals_interp(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *signals_median(PyObject *module, PyObject *const *arguments, Py_ssize_t count,
                         PyObject *names);
PyObject *signals_diff(PyObject *module, PyObject *const *arguments, Py_ssize_t count, PyObject *names);
PyObject *signals_gradient(PyObject *module, PyObject *const *arguments, Py_ssize_t count,
                           PyObject *names);
PyObject *signals_convolve(PyObject *module, PyObject *const *arguments, Py_ssize_t count,
                           PyObject *names);
