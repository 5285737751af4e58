/* SPDX-License-Identifier: Apache-2.0 */
/* Tracers, the objects by which collet.grad follows arrays through functions: a function that finds one
 * among its arguments leaves the call to the handler, which is written in Python. All functions need
 * the GIL. */
#ifndef PYTHON_SRC_CALLS_TRACER_H
#define PYTHON_SRC_CALLS_TRACER_H

#include "src/base/python.h"

/* The class of tracers, a borrowed reference; NULL until collet.grad is imported. */
extern PyTypeObject *tracer_type;

/* Whether one of the objects is a tracer; objects may be NULL. */
static inline int tracer_among(PyObject *const *objects, Py_ssize_t count)
{
    if (tracer_type)
        for (Py_ssize_t i = 0; i < count; i++)
            if (objects[i] && Py_TYPE(objects[i]) == tracer_type)
                return 1;
    return 0;
}

/* Whether an argument of a function with METH_FASTCALL | METH_KEYWORDS is a tracer. */
static inline int tracer_given(PyObject *const *arguments, Py_ssize_t count, PyObject *keywords)
{
    return tracer_type && tracer_among(arguments, count + (keywords ? PyTuple_Size(keywords) : 0));
}

/* Calls the handler for a call of `function` (an Expression, or the name of an op or elementwise function) and returns
 * its result. NULL with an exception. */
PyObject *tracer_call(PyObject *function, PyObject *const *arguments, Py_ssize_t count,
                      PyObject *keywords);

/* Function of the module: sets (class, handler). The handler is called as handler(function, arguments, keywords). */
PyObject *tracer_set(PyObject *module, PyObject *arguments);

#endif
