/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: python/tests/gradient/test_tracing.py */
#include "tracer.h"

PyTypeObject *tracer_types[TRACER_TYPES];

static PyObject *handler;

PyObject *tracer_set(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PyObject *types[TRACER_TYPES], *function, *old = handler;
    if (!PyArg_ParseTuple(arguments, "(O!O!O!)O", &PyType_Type, &types[0], &PyType_Type, &types[1],
                          &PyType_Type, &types[2], &function))
        return NULL;
    handler = Py_NewRef(function);
    Py_XDECREF(old);
    for (int i = 0; i < TRACER_TYPES; i++) {
        old = (PyObject *)tracer_types[i];
        tracer_types[i] = (PyTypeObject *)Py_NewRef(types[i]);
        Py_XDECREF(old);
    }
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
