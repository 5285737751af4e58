/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: python/tests/op/test_integers.py */
#include "comparison.h"

#include "function.h"
#include "src/array/array.h"
#include "src/base/numpy.h"

int comparison_is(PyObject *name)
{
    static const char *const names[] = {"equal",      "not_equal", "less",
                                        "less_equal", "greater",   "greater_equal"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!PyUnicode_CompareWithASCIIString(name, names[i]))
            return 1;
    return 0;
}

static int has_integers(PyObject *object)
{
    if (array_check(object))
        return !function_is_floating(array_dtype_of(object));
    PyObject *dtype = numpy_is_array(object) ? PyObject_GetAttrString(object, "dtype") : NULL;
    PyObject *kind = dtype ? PyObject_GetAttrString(dtype, "kind") : NULL;
    int found = kind && (!PyUnicode_CompareWithASCIIString(kind, "i") ||
                         !PyUnicode_CompareWithASCIIString(kind, "u") ||
                         !PyUnicode_CompareWithASCIIString(kind, "b"));
    Py_XDECREF(dtype);
    Py_XDECREF(kind);
    PyErr_Clear();
    return found;
}

int comparison_beyond(PyObject *const *in, int *sign)
{
    for (int i = 0; i < 2; i++) {
        if (!PyLong_CheckExact(in[i]))
            continue;
        (void)PyLong_AsLongLongAndOverflow(in[i], sign);
        if (*sign > 0 && PyLong_AsUnsignedLongLong(in[i]) != (unsigned long long)-1)
            return -1;
        if (!*sign || (*sign > 0 && !PyErr_Occurred())) /* 2^64 - 1 */
            return -1;
        PyErr_Clear();
        return has_integers(in[!i]) ? i : -1;
    }
    return -1;
}
