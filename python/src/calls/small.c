/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: python/tests/op/test_small.py */
#include "small.h"

#include <math.h>

#include <collet/floating.h>
#include <collet/ops.h>

#include "op.h"
#include "src/array/array.h"
#include "src/base/runtime.h"

#define LIMIT (128 << 10) /* elements: they take at most some ten microseconds */
#define PRODUCT_LIMIT (2 << 20) /* multiplications of a product of matrices: at most 0.1 ms */

/* The array of an Array that has a value; NULL: use the general call. */
static const collet_array *ready(PyObject *object)
{
    if (!array_check(object) || array_node(object))
        return NULL;
    const lazy_value *v = array_value(object);
    if (!v)
        PyErr_Clear();
    return v && v->generation == runtime_generation() ? v->array : NULL;
}

static int is_real(collet_dtype dtype)
{
    return dtype == COLLET_F32 || dtype == COLLET_F64;
}

/* Whether the backend computes at once, so that a small call takes microseconds, and no observer is set. */
static int is_now(void)
{
    return runtime_at_once() && !runtime_waits() && !call_is_observed();
}

static op_object *op_of(PyObject *function)
{
    if (PyCFunction_Check(function) && op_check(PyCFunction_GetSelf(function)))
        return (op_object *)PyCFunction_GetSelf(function);
    PyErr_Format(PyExc_TypeError, "%R is not the function of an op", function);
    return NULL;
}

static PyObject *function_of(PyMethodDef *method, PyObject *self)
{
    return self ? PyCFunction_NewEx(method, self, NULL) : NULL;
}

/* ---- Reductions --------------------------------------------------------------------------- */

/* The axes of a reduction as bits; 0: use the general call. */
static uint32_t axes_of(PyObject *axis, int32_t ndim)
{
    int overflow;
    if (axis == Py_None)
        return (1u << ndim) - 1;
    if (!PyLong_CheckExact(axis))
        return 0;
    long i = PyLong_AsLongAndOverflow(axis, &overflow);
    return overflow || i < -ndim || i >= ndim ? 0 : 1u << (i < 0 ? i + ndim : i);
}

/* Takes the keywords axis (unless it was given by position), keepdims and correction. 0: use the general call. */
static int take_keywords(PyObject *const *values, PyObject *keywords, int32_t ndim, int has_axis,
                         int corrects, collet_variance_params *p)
{
    Py_ssize_t count = keywords ? PyTuple_Size(keywords) : 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *key = PyTuple_GetItem(keywords, i);
        if (!has_axis && !PyUnicode_CompareWithASCIIString(key, "axis"))
            p->axes = axes_of(values[i], ndim);
        else if (!PyUnicode_CompareWithASCIIString(key, "keepdims") && PyBool_Check(values[i]))
            p->keepdims = values[i] == Py_True;
        else if (corrects && !PyUnicode_CompareWithASCIIString(key, "correction") &&
                 (PyFloat_CheckExact(values[i]) || PyLong_CheckExact(values[i])))
            p->correction = PyFloat_AsDouble(values[i]);
        else
            return 0;
    }
    if (PyErr_Occurred())
        PyErr_Clear();
    else
        return p->axes != 0;
    return 0;
}

static void reduce_spec(const collet_array *x, const collet_variance_params *p,
                        collet_array_spec *out)
{
    const int64_t *shape = collet_array_shape(x);
    out->dtype = collet_array_dtype(x);
    out->ndim = 0;
    for (int32_t i = 0; i < collet_array_ndim(x); i++)
        if (!(p->axes >> i & 1))
            out->shape[out->ndim++] = shape[i];
        else if (p->keepdims)
            out->shape[out->ndim++] = 1;
}

/* The reduction of an Array by the op `self`; None: use the general call. */
static PyObject *reduce(PyObject *self, PyObject *const *arguments, Py_ssize_t count,
                        PyObject *keywords)
{
    op_object *op = (op_object *)self;
    const collet_array *x = count > 0 && count < 3 && is_now() ? ready(arguments[0]) : NULL;
    int32_t ndim = x ? collet_array_ndim(x) : 0;
    int64_t size = x ? collet_array_size(x) : 0;
    collet_variance_params p;
    collet_array_spec out;
    if (!ndim || size < 1 || size > LIMIT || !is_real(collet_array_dtype(x)))
        Py_RETURN_NONE;
    p = (collet_variance_params){.struct_size = op->params_size, .axes = (1u << ndim) - 1};
    if (count > 1)
        p.axes = axes_of(arguments[1], ndim);
    if (!take_keywords(arguments + count, keywords, ndim, count > 1, op->params_size == sizeof p,
                       &p))
        Py_RETURN_NONE;
    reduce_spec(x, &p, &out);
    return op_compute(op, &x, &out, &p);
}

PyObject *small_reduction(PyObject *Py_UNUSED(module), PyObject *function)
{
    static PyMethodDef method = {"reduce", (PyCFunction)(void (*)(void))reduce,
                                 METH_FASTCALL | METH_KEYWORDS, NULL};
    static const uint32_t same_dtype[] = {COLLET_OP_SUM, COLLET_OP_PROD, COLLET_OP_MEAN,
                                          COLLET_OP_VAR, COLLET_OP_STD,  COLLET_OP_MIN,
                                          COLLET_OP_MAX};
    op_object *op = op_of(function);
    if (!op || op_refresh(op))
        return NULL;
    for (size_t i = 0; i < sizeof same_dtype / sizeof *same_dtype; i++)
        if (op->id == same_dtype[i])
            return function_of(&method, (PyObject *)op);
    return PyErr_Format(PyExc_TypeError, "%U is not a reduction that keeps the dtype", op->name);
}

/* ---- Products ----------------------------------------------------------------------------- */

enum { DOT, MATVEC, MATMUL, PRODUCTS };

/* The product of two Arrays by an op in the tuple `self`; None: use the general call. */
static PyObject *multiply(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
    const collet_array *in[2] = {NULL, NULL};
    collet_array_spec out;
    if (count == 2 && is_now() && (in[0] = ready(arguments[0])))
        in[1] = ready(arguments[1]);
    if (!in[1] || collet_array_dtype(in[0]) != collet_array_dtype(in[1]) ||
        !is_real(collet_array_dtype(in[0])))
        Py_RETURN_NONE;
    int32_t left = collet_array_ndim(in[0]), right = collet_array_ndim(in[1]);
    const int64_t *a = collet_array_shape(in[0]), *b = collet_array_shape(in[1]);
    int which = left == 1 && right == 1   ? DOT
                : left == 2 && right == 1 ? MATVEC
                : left == 2 && right == 2 ? MATMUL
                                          : PRODUCTS;
    if (which == PRODUCTS || a[left - 1] != b[0] || collet_array_size(in[0]) > LIMIT ||
        collet_array_size(in[1]) > LIMIT ||
        (which == MATMUL && collet_array_size(in[0]) * b[1] > PRODUCT_LIMIT))
        Py_RETURN_NONE;
    out.dtype = collet_array_dtype(in[0]);
    out.ndim = which;
    out.shape[0] = a[0];
    out.shape[1] = which == MATMUL ? b[1] : 0;
    return op_compute((op_object *)PyTuple_GetItem(self, which), in, &out, NULL);
}

PyObject *small_product(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    static PyMethodDef method = {"multiply", (PyCFunction)(void (*)(void))multiply, METH_FASTCALL,
                                 NULL};
    PyObject *functions[PRODUCTS];
    if (!PyArg_ParseTuple(arguments, "OOO", &functions[DOT], &functions[MATVEC],
                          &functions[MATMUL]))
        return NULL;
    PyObject *ops = PyTuple_New(PRODUCTS);
    for (int i = 0; ops && i < PRODUCTS; i++) {
        op_object *op = op_of(functions[i]);
        if (op)
            PyTuple_SetItem(ops, i, Py_NewRef((PyObject *)op));
        else
            Py_CLEAR(ops);
    }
    PyObject *made = function_of(&method, ops);
    Py_XDECREF(ops);
    return made;
}

/* ---- Orders ------------------------------------------------------------------------------- */

#define SORTED 4096 /* elements whose sort takes at most some ten microseconds */

static int is_ordered(collet_dtype dtype)
{
    return is_real(dtype) || (dtype >= COLLET_I8 && dtype <= COLLET_U64);
}

PyObject *small_order(op_object *op, PyObject *object)
{
    const collet_array *x = is_now() ? ready(object) : NULL;
    collet_sort_params p = {.struct_size = op->params_size, .axis = -1};
    collet_array_spec out;
    if (!x || !collet_array_ndim(x) || collet_array_size(x) < 1 || collet_array_size(x) > SORTED ||
        !is_ordered(collet_array_dtype(x)))
        Py_RETURN_NONE;
    array_spec(x, &out);
    if (!PyUnicode_CompareWithASCIIString(op->name, "argsort"))
        out.dtype = COLLET_I64;
    return op_compute(op, &x, &out, &p);
}

/* Whether the only keyword is `axis` and names the last axis. */
static int is_last_axis(PyObject *keywords, PyObject *axis, int32_t ndim)
{
    int overflow;
    if (PyTuple_Size(keywords) != 1 || !PyLong_CheckExact(axis) ||
        PyUnicode_CompareWithASCIIString(PyTuple_GetItem(keywords, 0), "axis") != 0)
        return 0;
    long i = PyLong_AsLongAndOverflow(axis, &overflow);
    return !overflow && (i == -1 || i == ndim - 1);
}

/* The elements of an Array in ascending order along the last axis, or their indices, by the op `self`. None: use the general
 * call. */
static PyObject *order(PyObject *self, PyObject *const *arguments, Py_ssize_t count,
                       PyObject *keywords)
{
    collet_array_spec spec;
    if (count != 1 || !array_check(arguments[0]))
        Py_RETURN_NONE;
    if (keywords && array_describe(arguments[0], &spec))
        return NULL;
    return keywords && !is_last_axis(keywords, arguments[1], spec.ndim)
               ? Py_NewRef(Py_None)
               : small_order((op_object *)self, arguments[0]);
}

PyObject *small_sort(PyObject *Py_UNUSED(module), PyObject *function)
{
    static PyMethodDef method = {"order", (PyCFunction)(void (*)(void))order,
                                 METH_FASTCALL | METH_KEYWORDS, NULL};
    return function_of(&method, (PyObject *)op_of(function));
}

/* ---- Norms -------------------------------------------------------------------------------- */

/* The dot product of the elements with themselves; NULL with an exception. The elements of several axes follow each other
 * without gaps. */
static PyObject *square(op_object *dot, PyObject *object, const collet_array *v)
{
    const collet_array_spec number = {.dtype = collet_array_dtype(v), .ndim = 0};
    const collet_array *in[] = {v, v};
    PyObject *const both[] = {object, object};
    const int64_t size = collet_array_size(v);
    collet_array *flat = NULL;
    if (size > LIMIT)
        return op_call((PyObject *)dot, both, 2, NULL);
    if (collet_array_ndim(v) > 1) {
        collet_context *context = runtime_context();
        if (!context || collet_array_reshape(context, v, &flat, 1, &size) != COLLET_OK)
            return context ? runtime_raise(context) : NULL;
        in[0] = in[1] = flat;
    }
    PyObject *made = op_compute(dot, in, &number, NULL);
    collet_array_destroy(flat);
    return made;
}

/* The Euclidean norm of an Array by the op dot (`self`). None: use the general call, for example if the squares may exceed
 * the range of f32. */
static PyObject *norm(PyObject *self, PyObject *const *arguments, Py_ssize_t count,
                      PyObject *keywords)
{
    COLLET_FLOATING_SCOPE; /* this function computes the square root */
    const collet_array *v = count == 1 && !keywords && is_now() ? ready(arguments[0]) : NULL;
    int32_t ndim = v ? collet_array_ndim(v) : 0;
    if (!ndim || !is_real(collet_array_dtype(v)) ||
        (ndim > 1 && (collet_array_size(v) > LIMIT || !array_is_dense(v, 0))))
        Py_RETURN_NONE;
    PyObject *made = square((op_object *)self, arguments[0], v);
    collet_array *found = made ? array_get(made) : NULL;
    if (!found) {
        Py_XDECREF(made);
        return NULL;
    }
    void *at = collet_array_host_address(found, COLLET_READ | COLLET_WRITE);
    float *narrow = collet_array_dtype(v) == COLLET_F32 ? at : NULL;
    if (!at || (narrow && !(*narrow > 0x1p-100f && *narrow < 0x1p127f))) {
        Py_DECREF(made);
        Py_RETURN_NONE;
    }
    if (narrow)
        *narrow = (float)sqrt((double)*narrow);
    else
        *(double *)at = sqrt(*(double *)at);
    return made;
}

PyObject *small_norm(PyObject *Py_UNUSED(module), PyObject *dot)
{
    static PyMethodDef method = {"norm", (PyCFunction)(void (*)(void))norm,
                                 METH_FASTCALL | METH_KEYWORDS, NULL};
    return function_of(&method, (PyObject *)op_of(dot));
}
