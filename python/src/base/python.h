/* SPDX-License-Identifier: Apache-2.0 */
/* Includes collet.h and Python's stable interface (the build defines Py_LIMITED_API, except for
 * free-threaded Pythons). */
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <collet/collet.h>

/* PyModule_Create for a module that needs the GIL: a free-threaded Python turns it on. */
static inline PyObject *python_module(PyModuleDef *definition)
{
    PyObject *module = PyModule_Create(definition);
#ifdef Py_GIL_DISABLED
    if (module && PyUnstable_Module_SetGIL(module, Py_MOD_GIL_USED))
        Py_CLEAR(module);
#endif
    return module;
}
