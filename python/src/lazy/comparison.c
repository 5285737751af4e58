/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: python/tests/op/test_integers.py */
#include "comparison.h"

#include "src/array/array.h"

int comparison_is(PyObject *name)
{
    static const char *const names[] = {"equal",      "not_equal", "less",
                                        "less_equal", "greater",   "greater_equal"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!PyUnicode_CompareWithASCIIString(name, names[i]))
            return 1;
    return 0;
}

/* 1 if elements of the dtype are no integers, or can have the value; of what is beyond i64, Python decides. */
static int holds(collet_dtype dtype, PyObject *number)
{
    int overflow;
    long long v = PyLong_AsLongLongAndOverflow(number, &overflow);
    switch (dtype) {
    case COLLET_I8:
        return !overflow && v == (int8_t)v;
    case COLLET_U8:
        return !overflow && v == (uint8_t)v;
    case COLLET_I16:
        return !overflow && v == (int16_t)v;
    case COLLET_U16:
        return !overflow && v == (uint16_t)v;
    case COLLET_I32:
        return !overflow && v == (int32_t)v;
    case COLLET_U32:
        return !overflow && v == (uint32_t)v;
    case COLLET_I64:
        return !overflow;
    case COLLET_U64:
        return !overflow && v >= 0;
    default:
        return 1;
    }
}

PyObject *comparison_beyond(PyObject *name, PyObject *const *in)
{
    int first = PyLong_CheckExact(in[0]);
    PyObject *number = in[!first], *array = in[first], *module, *found;
    if (!PyLong_CheckExact(number) || (array_check(array) && holds(array_dtype_of(array), number)))
        return NULL;
    module = PyImport_ImportModule("collet._standard.integers");
    found = module ? PyObject_CallMethod(module, "comparison", "OOO", name, in[0], in[1]) : NULL;
    Py_XDECREF(module);
    if (found != Py_None)
        return found;
    Py_DECREF(found);
    return NULL;
}
