/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: python/tests/op/test_small_functions.py */
#include "sets.h"

#include <string.h>

#include "direct.h"
#include "src/array/array.h"
#include "src/calls/small.h"

/* Whether two elements differ by the rules of the op not_equal. */
static int differ(const char *a, const char *b, collet_dtype dtype, size_t width)
{
    if (dtype == COLLET_F64)
        return *(const double *)(const void *)a != *(const double *)(const void *)b;
    if (dtype == COLLET_F32)
        return *(const float *)(const void *)a != *(const float *)(const void *)b;
    return memcmp(a, b, width) != 0;
}

/* The elements of a sorted vector that differ from their predecessors. As direct_make. */
static int distinct(const direct *x, direct *out)
{
    int64_t count = 1, to = 1;
    size_t width = x->width;
    for (int64_t i = 1; i < x->size; i++)
        count += differ(x->data + (size_t)i * width, x->data + (size_t)(i - 1) * width, x->spec.dtype, width);
    int made = direct_make(out, x->spec.dtype, 1, &count);
    if (made < 1)
        return made;
    memcpy(out->data, x->data, width);
    for (int64_t i = 1; i < x->size; i++) {
        const char *at = x->data + (size_t)i * width;
        if (differ(at, at - width, x->spec.dtype, width))
            memcpy(out->data + (size_t)to++ * width, at, width);
    }
    return 1;
}

static PyObject *unique(PyObject *self, PyObject *const *arguments, Py_ssize_t count,
                        PyObject *keywords)
{
    collet_array_spec spec;
    direct x, out;
    if (count != 1 || keywords || !array_check(arguments[0]))
        Py_RETURN_NONE;
    if (array_describe(arguments[0], &spec))
        return NULL;
    PyObject *sorted =
        spec.ndim == 1 ? small_order((op_object *)self, arguments[0]) : Py_NewRef(Py_None);
    int made = sorted ? direct_open(sorted, &x) : -1;
    if (made == 1) {
        made = distinct(&x, &out);
        direct_close(&x);
    }
    Py_XDECREF(sorted);
    return made < 0 ? NULL : made ? direct_finish(&out) : Py_NewRef(Py_None);
}

PyObject *sets_unique(PyObject *Py_UNUSED(module), PyObject *sort)
{
    static PyMethodDef method = {"unique", (PyCFunction)(void (*)(void))unique,
                                 METH_FASTCALL | METH_KEYWORDS, NULL};
    PyObject *self = PyCFunction_Check(sort) ? PyCFunction_GetSelf(sort) : NULL;
    if (!self || !op_check(self))
        return PyErr_Format(PyExc_TypeError, "%R is not the function of an op", sort);
    return PyCFunction_NewEx(&method, self, NULL);
}
