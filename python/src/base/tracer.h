/* SPDX-License-Identifier: Apache-2.0 */
/* Tracers, the objects by which collet.grad, vmap and jit follow arrays through functions: a function that finds a
 * tracer among its arguments passes the call to the handler, which is written in Python. All functions need the GIL. */
#pragma once

#include "python.h"

enum { TRACER_TYPES = 3 };

/* The classes of tracers, borrowed references; NULL until the transforms are imported. */
extern PyTypeObject *tracer_types[TRACER_TYPES];

static inline int tracer_is(PyObject *object)
{
    for (int i = 0; i < TRACER_TYPES; i++)
        if (Py_TYPE(object) == tracer_types[i])
            return 1;
    return 0;
}

/* Whether one of the objects is a tracer; objects may be NULL. */
static inline int tracer_among(PyObject *const *objects, Py_ssize_t count)
{
    if (tracer_types[0])
        for (Py_ssize_t i = 0; i < count; i++)
            if (objects[i] && tracer_is(objects[i]))
                return 1;
    return 0;
}

/* Whether an argument of a function with METH_FASTCALL | METH_KEYWORDS is a tracer. */
static inline int tracer_given(PyObject *const *arguments, Py_ssize_t count, PyObject *keywords)
{
    return tracer_types[0] &&
           tracer_among(arguments, count + (keywords ? PyTuple_Size(keywords) : 0));
}

/* Calls the handler for a call of `function` (an Expression, the name of an elementwise function, or "op." and the
 * name of an op) and returns its result. NULL with an exception. */
PyObject *tracer_call(PyObject *function, PyObject *const *arguments, Py_ssize_t count,
                      PyObject *keywords);

/* Function of the module: sets (tuple of TRACER_TYPES classes, handler). The handler is called as
 * handler(function, arguments, keywords). */
PyObject *tracer_set(PyObject *module, PyObject *arguments);
