/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: python/tests/op/test_namespace.py */
#include "function.h"

#include <math.h>
#include <string.h>

#include "src/array/array.h"
#include "src/calls/op.h"

int function_is_floating(collet_dtype dtype)
{
    return dtype == COLLET_F16 || dtype == COLLET_BF16 || dtype == COLLET_F32 ||
           dtype == COLLET_F64 || dtype == COLLET_C64 || dtype == COLLET_C128;
}

int function_is_small_exponent(PyObject *object)
{
    double n;
    if (!PyFloat_CheckExact(object) && !PyLong_CheckExact(object))
        return 0;
    n = PyFloat_CheckExact(object) ? PyFloat_AsDouble(object) : PyLong_AsDouble(object);
    if (n == -1 && PyErr_Occurred())
        PyErr_Clear();
    return n >= -16 && n <= 16 && 2 * n == floor(2 * n);
}

/* The dtype of an Array; 0 for other objects. */
static collet_dtype dtype_of(PyObject *object)
{
    return array_check(object) ? array_dtype_of(object) : COLLET_DTYPE_NONE;
}

/* Whether the op `single` can compute the operands: Arrays of one dtype, or a floating-point Array
 * and a number, which takes its dtype. */
static int op_takes(const elementwise *f, PyObject *const *in)
{
    collet_dtype first = dtype_of(in[0]), second;
    if (f->n_in == 1)
        return (int)(f->same >> first & 1);
    if (f->n_in != 2)
        return 0;
    second = dtype_of(in[1]);
    if (first == second)
        return (int)(f->same >> first & 1);
    if (!second)
        return (PyFloat_CheckExact(in[1]) || PyLong_CheckExact(in[1])) && f->floating >> first & 1;
    return !first && (PyFloat_CheckExact(in[0]) || PyLong_CheckExact(in[0])) &&
           f->floating >> second & 1;
}

static PyObject *power(const elementwise *f, PyObject *const *in, PyObject *out,
                       const snapshot *reads)
{
    PyObject *function = PyObject_CallFunctionObjArgs(f->powers, in[1], NULL);
    PyObject *made = NULL;
    if (function && expression_check(function))
        made = evaluate_expression((expression_object *)function, in, out, reads);
    Py_XDECREF(function);
    return made;
}

PyObject *function_call(const elementwise *f, PyObject *const *in, PyObject *out,
                        const snapshot *reads)
{
    static PyObject *out_only; /* ("out",) */
    PyObject *given[NODE_INPUTS + 1];
    if (!out_only && !(out_only = Py_BuildValue("(s)", "out")))
        return NULL;
    if (out == Py_None)
        out = NULL;
    if (f->powers && function_is_small_exponent(in[1]))
        return power(f, in, out, reads);
    if (!op_takes(f, in))
        return evaluate_expression(f->general, in, out, reads);
    memcpy(given, in, f->n_in * sizeof *in);
    given[f->n_in] = out;
    return op_call_reading(PyCFunction_GetSelf(f->single), given, (Py_ssize_t)f->n_in,
                           out ? out_only : NULL, reads);
}
