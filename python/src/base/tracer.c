/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: python/tests/gradient/test_tracing.py */
#include "tracer.h"

PyTypeObject *tracer_type;

static PyObject *handler;

PyObject *tracer_set(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PyObject *type, *function, *old = handler;
    if (!PyArg_ParseTuple(arguments, "O!O", &PyType_Type, &type, &function))
        return NULL;
    handler = Py_NewRef(function);
    Py_XDECREF(old);
    old = (PyObject *)tracer_type;
    tracer_type = (PyTypeObject *)Py_NewRef(type);
    Py_XDECREF(old);
    return Py_NewRef(Py_None);
}

PyObject *tracer_call(PyObject *function, PyObject *const *arguments, Py_ssize_t count,
                      PyObject *keywords)
{
    Py_ssize_t named = keywords ? PyTuple_Size(keywords) : 0;
    PyObject *positional = PyTuple_New(count), *others = PyDict_New(), *made = NULL;
    for (Py_ssize_t i = 0; positional && i < count; i++)
        PyTuple_SetItem(positional, i, Py_NewRef(arguments[i]));
    for (Py_ssize_t i = 0; others && i < named; i++)
        if (PyDict_SetItem(others, PyTuple_GetItem(keywords, i), arguments[count + i]))
            Py_CLEAR(others);
    if (positional && others)
        made = PyObject_CallFunctionObjArgs(handler, function, positional, others, NULL);
    Py_XDECREF(positional);
    Py_XDECREF(others);
    return made;
}
