/* SPDX-License-Identifier: Apache-2.0 */
/* The elementwise functions. If the arguments of a call cannot cause an error, the call makes a node. All other calls
 * are computed at once, so that each error is raised by the call that causes it.
 * Tests: python/tests/op/test_lazy.py, python/tests/op/test_namespace.py */
#include "elementwise.h"

#include <math.h>
#include <string.h>

#include "function.h"
#include "src/array/array.h"
#include "src/base/error.h"
#include "src/base/numpy.h"
#include "src/base/python.h"
#include "src/calls/op.h"
#include "src/base/runtime.h"
#include "src/base/tracer.h"
#include "lazy.h"
#include "wait.h"

/* Comparisons of integer Arrays with Python ints of more than 64 bits. All functions need the GIL. */

/* Whether the function with this name is a comparison. */
static int comparison_is(PyObject *name)
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

/* Returns the index (0 or 1) of an operand that is an int beyond 64 bits, if the other operand is an Array of integers;
 * -1: there is no such operand. *sign is 1 if the int is above all elements of the Array, -1 if it is below them. */
static int comparison_beyond(PyObject *const *in, int *sign)
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

static PyTypeObject *type;

/* ---- Calls with out ----------------------------------------------------------------------- */

/* Computes f of `in` into `out`. Operands that wait to be computed, and read the memory of `out`, are computed first.
 * All other operands that wait are computed in the same evaluation as f. */
static PyObject *compute_into(elementwise *f, PyObject *const *in, PyObject *out)
{
    collet_array_spec spec;
    int waiting = 0;
    node *n;
    for (uint32_t i = 0; i < f->n_in; i++)
        waiting |= array_check(in[i]) && array_node(in[i]);
    if (!waiting || !array_check(out) || !array_get(out))
        return PyErr_Occurred() ? NULL : function_call(f, in, out, NULL);
    const memory *m = value_memory(array_value(out));
    for (uint32_t i = 0; m && i < f->n_in; i++) {
        node *part = array_check(in[i]) ? array_node(in[i]) : NULL;
        if (part && lazy_reads(part, m) && !array_get(in[i]))
            return NULL;
    }
    n = m && !lazy_is_off() ? wait_for(f, in) : NULL;
    if (n && n->row) { /* groups of rows: one group of `out` would be written before the next is computed */
        node_unref(n);
        n = NULL;
    }
    if (!n)
        return PyErr_Occurred() ? NULL : function_call(f, in, out, NULL);
    array_spec(array_value(out)->array, &spec);
    if (spec.dtype == n->spec.dtype && node_same_shape(&spec, &n->spec)) {
        PyObject *made = lazy_compute_into(n, out);
        if (made != Py_NotImplemented)
            return made;
        Py_DECREF(made);
    } else {
        node_unref(n);
    }
    return function_call(f, in, out, NULL);
}

static PyObject *with_infinity(elementwise *f, PyObject *const *in, int place, int sign,
                               PyObject *out)
{
    PyObject *infinity = PyFloat_FromDouble(sign * (double)INFINITY), *made = NULL;
    PyObject *both[2] = {place ? in[0] : infinity, place ? infinity : in[1]};
    if (infinity)
        made = elementwise_apply(f, both, out);
    Py_XDECREF(infinity);
    return made;
}

/* isnan, isinf or isfinite of integers or bool: all results are equal. NULL without an exception: other arguments. */
static PyObject *of_integers(const elementwise *f, PyObject *x)
{
    collet_dtype dtype = f->finite >= 0 && array_check(x) ? array_dtype_of(x) : COLLET_DTYPE_NONE;
    if (!dtype || (dtype < COLLET_I8 || dtype > COLLET_BOOL))
        return NULL;
    PyObject *module = PyImport_ImportModule("collet._array.creation");
    PyObject *shape = module ? PyObject_GetAttrString(x, "shape") : NULL;
    PyObject *value = f->finite ? Py_True : Py_False;
    PyObject *made = shape ? PyObject_CallMethod(module, "full", "OO", shape, value) : NULL;
    Py_XDECREF(module);
    Py_XDECREF(shape);
    return made;
}

PyObject *elementwise_apply(elementwise *f, PyObject *const *in, PyObject *out)
{
    node *n;
    int sign, place = f->compares ? comparison_beyond(in, &sign) : -1;
    if (place >= 0)
        return with_infinity(f, in, place, sign, out);
    if (out && out != Py_None)
        return compute_into(f, in, out);
    PyObject *made = of_integers(f, in[0]);
    if (!made && !PyErr_Occurred())
        made = wait_not(f, in);
    if (made || PyErr_Occurred())
        return made;
    n = lazy_is_off() ? NULL : wait_for(f, in);
    if (n)
        return lazy_array(n);
    return PyErr_Occurred() ? NULL : function_call(f, in, NULL, NULL);
}

/* (array, dtype) */
PyObject *elementwise_convert(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PyObject *array, *wanted;
    collet_dtype dtype;
    node *n, *from;
    lazy_value *v;
    if (!PyArg_ParseTuple(arguments, "OO", &array, &wanted) || !(dtype = numpy_dtype_parse(wanted)))
        return NULL;
    if (!array_check(array) || lazy_is_off())
        Py_RETURN_NONE;
    uint32_t choice = runtime_choice();
    if (!choice)
        return NULL;
    from = array_node(array);
    v = from ? NULL : array_value(array);
    if (from && (from->seen || from->choice != choice)) {
        if (!array_get(array))
            return NULL;
        from = NULL;
        v = array_value(array);
    }
    if (!from && !v)
        return NULL;
    if (from ? from->generation != runtime_generation()
             : v->generation != runtime_generation() || collet_array_is_shared(v->array))
        Py_RETURN_NONE;
    if (v && !value_memory(v))
        return NULL;
    n = node_new(NULL, choice);
    if (!n)
        return NULL;
    if (from)
        n->spec = from->spec;
    else
        array_spec(v->array, &n->spec);
    n->spec.dtype = dtype;
    n->row = from ? from->row : 0;
    n->flat = from && from->flat;
    if (from)
        node_add_node(n, from);
    else
        node_add_value(n, v);
    return lazy_array(n);
}

/* ---- The function ------------------------------------------------------------------------- */

static int take_keywords(const elementwise *f, PyObject *const *values, PyObject *keywords,
                         PyObject **in, PyObject **out)
{
    Py_ssize_t count = keywords ? PyTuple_Size(keywords) : 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *key = PyTuple_GetItem(keywords, i);
        PyObject **place = !PyUnicode_CompareWithASCIIString(key, "out")   ? out
                           : !f->sides                                     ? NULL
                           : !PyUnicode_CompareWithASCIIString(key, "min") ? &in[1]
                           : !PyUnicode_CompareWithASCIIString(key, "max") ? &in[2]
                                                                           : NULL;
        if (!place || *place) {
            PyErr_Format(PyExc_TypeError, place ? "%U() got %R twice" : "%U() has no parameter %R",
                         f->name, key);
            return -1;
        }
        *place = values[i];
    }
    return 0;
}

/* The function clip without one of the limits, or without both. */
static PyObject *clip(const elementwise *f, PyObject **in, PyObject *out)
{
    int lower = in[1] && in[1] != Py_None, upper = in[2] && in[2] != Py_None;
    elementwise *side = elementwise_get(PyTuple_GetItem(f->sides, lower ? 0 : upper ? 1 : 2));
    if (!side)
        return NULL;
    if (!lower)
        in[1] = in[2];
    return elementwise_apply(side, in, out);
}

static PyObject *called(PyObject *self, PyObject *const *arguments, Py_ssize_t count,
                        PyObject *keywords)
{
    elementwise *f = (elementwise *)self;
    PyObject *in[NODE_INPUTS] = {NULL}, *out = NULL;
    if (tracer_given(arguments, count, keywords))
        return tracer_call(f->name, arguments, count, keywords);
    Py_ssize_t least = f->sides ? 1 : (Py_ssize_t)f->n_in;
    if (count < least || count > (Py_ssize_t)f->n_in)
        return PyErr_Format(PyExc_TypeError, "%U() takes %d array%s (%zd given)", f->name,
                            (int)f->n_in, f->n_in == 1 ? "" : "s", count);
    for (Py_ssize_t i = 0; i < count; i++)
        in[i] = arguments[i];
    if (take_keywords(f, arguments + count, keywords, in, &out))
        return NULL;
    if (f->sides && (!in[1] || !in[2] || in[1] == Py_None || in[2] == Py_None))
        return clip(f, in, out);
    return elementwise_apply(f, in, out);
}

elementwise *elementwise_get(PyObject *function)
{
    PyObject *self = PyCFunction_Check(function) ? PyCFunction_GetSelf(function) : NULL;
    if (self && PyObject_TypeCheck(self, type))
        return (elementwise *)self;
    PyErr_Format(PyExc_TypeError, "%R is no elementwise function", function);
    return NULL;
}

PyObject *elementwise_make(PyObject *module, PyObject *arguments)
{
    PyObject *name, *doc, *single, *general, *dtypes, *powers, *sides, *function;
    unsigned n_in;
    int lazy;
    if (!PyArg_ParseTuple(arguments, "UUIOOOOOp", &name, &doc, &n_in, &single, &general, &dtypes,
                          &powers, &sides, &lazy))
        return NULL;
    if (!n_in || n_in > NODE_INPUTS || !PyCFunction_Check(single) || !expression_check(general))
        return PyErr_Format(PyExc_TypeError, "elementwise(): invalid arguments");
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    elementwise *f = (elementwise *)allocate(type, 0);
    if (!f)
        return NULL;
    f->name = Py_NewRef(name);
    f->doc = Py_NewRef(doc);
    f->single = Py_NewRef(single);
    f->general = (expression_object *)Py_NewRef(general);
    f->powers = powers == Py_None ? NULL : Py_NewRef(powers);
    f->sides = sides == Py_None ? NULL : Py_NewRef(sides);
    f->n_in = n_in;
    f->lazy = lazy;
    f->compares = comparison_is(name);
    f->condition = !PyUnicode_CompareWithASCIIString(name, "where");
    int finite = !PyUnicode_CompareWithASCIIString(name, "isfinite");
    f->finite = finite || !PyUnicode_CompareWithASCIIString(name, "isnan") ||
                        !PyUnicode_CompareWithASCIIString(name, "isinf")
                    ? finite
                    : -1;
    for (Py_ssize_t i = 0; i < PyTuple_Size(dtypes); i++) {
        collet_dtype dtype = numpy_dtype_parse(PyTuple_GetItem(dtypes, i));
        f->same |= 1u << dtype;
        f->floating |= (uint32_t)function_is_floating(dtype) << dtype;
    }
    f->method =
        (PyMethodDef){PyUnicode_AsUTF8AndSize(f->name, NULL), (PyCFunction)(void (*)(void))called,
                      METH_FASTCALL | METH_KEYWORDS, PyUnicode_AsUTF8AndSize(f->doc, NULL)};
    PyObject *where = PyUnicode_InternFromString("collet");
    function =
        where && !PyErr_Occurred() ? PyCFunction_NewEx(&f->method, (PyObject *)f, where) : NULL;
    Py_XDECREF(where);
    Py_DECREF(f);
    (void)module;
    return function;
}

static void function_dealloc(PyObject *self)
{
    elementwise *f = (elementwise *)self;
    PyTypeObject *class = Py_TYPE(self);
    freefunc release = (freefunc)PyType_GetSlot(class, Py_tp_free);
    Py_XDECREF(f->name);
    Py_XDECREF(f->doc);
    Py_XDECREF(f->single);
    Py_XDECREF((PyObject *)f->general);
    Py_XDECREF(f->powers);
    Py_XDECREF(f->sides);
    release(self);
    Py_DECREF(class);
}

static PyObject *from_python(const char *name, PyObject *key)
{
    PyObject *module = PyImport_ImportModule("collet._array.elementwise");
    PyObject *found = module ? PyObject_CallMethod(module, name, "O", key) : NULL;
    Py_XDECREF(module);
    return found;
}

/* Python pickles a C function as an attribute of its __self__, by the function's name: this is its getter. */
static PyObject *function_attribute(PyObject *self, PyObject *name)
{
    if (PyUnicode_Compare(name, ((elementwise *)self)->name) != 0)
        return PyObject_GenericGetAttr(self, name);
    return from_python("get", name);
}

static PyObject *function_reduce(PyObject *self, PyObject *Py_UNUSED(unused))
{
    PyObject *module = PyImport_ImportModule("collet._array.elementwise");
    PyObject *owner = module ? PyObject_GetAttrString(module, "owner") : NULL;
    Py_XDECREF(module);
    return owner ? Py_BuildValue("N(O)", owner, ((elementwise *)self)->name) : NULL;
}

int elementwise_add_type(PyObject *module)
{
    static PyMethodDef methods[] = {{"__reduce__", function_reduce, METH_NOARGS, NULL},
                                    {NULL, NULL, 0, NULL}};
    PyType_Slot slots[] = {{Py_tp_dealloc, function_dealloc},
                           {Py_tp_getattro, function_attribute},
                           {Py_tp_methods, methods},
                           {Py_tp_doc, "`__self__` of an elementwise function."},
                           {0, NULL}};
    PyType_Spec spec = {.name = "collet._core.Elementwise",
                        .basicsize = sizeof(elementwise),
                        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                        .slots = slots};
    type = (PyTypeObject *)PyType_FromSpec(&spec);
    return type ? PyModule_AddObjectRef(module, "Elementwise", (PyObject *)type) : -1;
}
