/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: python/tests/op/test_elements.py, python/tests/op/test_indexing.py */
#include "element.h"

#include <math.h>
#include <string.h>

#include "array.h"
#include "capture.h"
#include "key.h"
#include "src/base/dtype.h"
#include "src/base/runtime.h"
#include "transfer.h"

/* ---- Numbers of Python -------------------------------------------------------------------- */

static double of_half(uint16_t bits)
{
    int exponent = bits >> 10 & 31, digits = bits & 1023;
    double x = exponent == 31 ? (digits ? (double)NAN : (double)INFINITY)
               : exponent     ? ldexp(digits + 1024, exponent - 25)
                              : ldexp(digits, -24);
    return bits >> 15 ? -x : x;
}

/* A number of Python. */
static PyObject *number_of(const collet_scalar *s)
{
    float wide;
    switch (s->dtype) {
    case COLLET_F16:
        return PyFloat_FromDouble(of_half(s->value.f16));
    case COLLET_BF16:
        memcpy(&wide, &(uint32_t){(uint32_t)s->value.bf16 << 16}, sizeof wide);
        return PyFloat_FromDouble((double)wide);
    case COLLET_F32:
        return PyFloat_FromDouble((double)s->value.f32);
    case COLLET_F64:
        return PyFloat_FromDouble(s->value.f64);
    case COLLET_C64:
        return PyComplex_FromDoubles((double)s->value.c64.re, (double)s->value.c64.im);
    case COLLET_C128:
        return PyComplex_FromDoubles(s->value.c128.re, s->value.c128.im);
#define INTEGER(NAME, name)                                                                        \
    case COLLET_##NAME:                                                                            \
        return PyLong_FromLongLong(s->value.name);
        INTEGER(I8, i8)
        INTEGER(U8, u8)
        INTEGER(I16, i16)
        INTEGER(U16, u16)
        INTEGER(I32, i32)
        INTEGER(U32, u32)
        INTEGER(I64, i64)
#undef INTEGER
    case COLLET_U64:
        return PyLong_FromUnsignedLongLong(s->value.u64);
    case COLLET_BOOL:
        return PyBool_FromLong(s->value.b8);
    default:
        return NULL;
    }
}

int element_scalar(PyObject *number, collet_scalar *s)
{
    int overflow = 0, is_int = PyLong_CheckExact(number), is_bool = PyBool_Check(number);
    double real;
    long long integer;
    if (s->dtype == COLLET_F64 || s->dtype == COLLET_F32) {
        if (!is_int && !PyFloat_Check(number))
            return 0;
        real = PyFloat_AsDouble(number);
        if (PyErr_Occurred()) {
            PyErr_Clear();
            return 0;
        }
        if (s->dtype == COLLET_F64)
            s->value.f64 = real;
        else
            s->value.f32 = (float)real;
        return 1;
    }
    if (s->dtype == COLLET_BOOL) {
        s->value.b8 = number == Py_True;
        return is_bool;
    }
    if (!is_int)
        return 0;
    integer = PyLong_AsLongLongAndOverflow(number, &overflow);
    switch (overflow ? COLLET_DTYPE_NONE : s->dtype) {
#define INTEGER(NAME, name, type)                                                                  \
    case COLLET_##NAME:                                                                            \
        s->value.name = (type)integer;                                                             \
        return (long long)s->value.name == integer;
        INTEGER(I8, i8, int8_t)
        INTEGER(U8, u8, uint8_t)
        INTEGER(I16, i16, int16_t)
        INTEGER(U16, u16, uint16_t)
        INTEGER(I32, i32, int32_t)
        INTEGER(U32, u32, uint32_t)
        INTEGER(I64, i64, int64_t)
#undef INTEGER
    case COLLET_U64:
        s->value.u64 = (uint64_t)integer;
        return integer >= 0;
    default:
        return 0;
    }
}

static PyObject *item(PyObject *self, PyObject *Py_UNUSED(unused))
{
    collet_array_spec spec;
    collet_scalar s;
    if (array_number(self, &s))
        return number_of(&s);
    if (array_describe(self, &spec))
        return NULL;
    if (array_size_of(&spec) != 1)
        return PyErr_Format(PyExc_ValueError, "item: the array has %lld elements, not one",
                            (long long)array_size_of(&spec));
    s = (collet_scalar){.dtype = spec.dtype};
    collet_array *a = array_get(self);
    capture_fail();
    const char *at = a ? collet_array_host_address(a, COLLET_READ) : NULL;
    PyObject *bytes = a && !at ? transfer_bytes(self, NULL) : NULL;
    if (bytes)
        at = PyBytes_AsString(bytes);
    if (!at)
        return NULL;
    memcpy(s.value.bytes, at, collet_dtype_size(s.dtype));
    Py_XDECREF(bytes);
    return number_of(&s);
}

/* item, converted by a function of Python's interface. */
static PyObject *item_as(PyObject *self, PyObject *(*convert)(PyObject *))
{
    PyObject *number = item(self, NULL), *made = number ? convert(number) : NULL;
    Py_XDECREF(number);
    return made;
}

static PyObject *to_float(PyObject *self)
{
    return item_as(self, PyNumber_Float);
}

static PyObject *to_int(PyObject *self)
{
    return item_as(self, PyNumber_Long);
}

static PyObject *to_index(PyObject *self)
{
    collet_array_spec spec;
    if (array_describe(self, &spec))
        return NULL;
    if (!spec.ndim && spec.dtype != COLLET_BOOL)
        return item_as(self, PyNumber_Index);
    PyObject *shape = PyObject_GetAttrString(self, "shape");
    PyErr_Format(PyExc_TypeError,
                 "only an integer array without axes can be used as an index, not one of %s of the "
                 "shape %S",
                 dtype_name(spec.dtype), shape);
    Py_XDECREF(shape);
    return NULL;
}

static int to_bool(PyObject *self)
{
    collet_array_spec spec;
    if (array_describe(self, &spec))
        return -1;
    if (array_size_of(&spec) != 1) {
        PyErr_Format(
            PyExc_ValueError,
            "the truth value of an Array of %lld elements is ambiguous: use any() or all()",
            (long long)array_size_of(&spec));
        return -1;
    }
    PyObject *number = item(self, NULL);
    int truth = number ? PyObject_IsTrue(number) : -1;
    Py_XDECREF(number);
    return truth;
}

/* ---- Reading and writing ------------------------------------------------------------------ */

/* Whether the key selects a single element by Python ints. */
static int index_of(PyObject *key, const collet_array *a, int64_t *index)
{
    int is_tuple = PyTuple_CheckExact(key), ndim = collet_array_ndim(a);
    if (!ndim || (is_tuple ? PyTuple_Size(key) : 1) != ndim)
        return 0;
    for (int i = 0; i < ndim; i++) {
        PyObject *part = is_tuple ? PyTuple_GetItem(key, i) : key;
        int overflow;
        int64_t extent = collet_array_shape(a)[i];
        if (!PyLong_CheckExact(part))
            return 0;
        int64_t at = PyLong_AsLongLongAndOverflow(part, &overflow);
        if (overflow || at < -extent || at >= extent)
            return 0; /* the general indexing code raises IndexError */
        index[i] = at < 0 ? at + extent : at;
    }
    return 1;
}

/* Returns the address of an element that can be read or written here without a wait for a device. NULL: the general
 * indexing code has to access the element. */
static char *address_of(collet_array *a, const int64_t *index, int32_t access)
{
    char *at = collet_array_host_address(a, access);
    const int64_t *strides = collet_array_strides(a);
    int64_t elements = 0;
    if (at)
        capture_fail();
    for (int i = 0; i < collet_array_ndim(a); i++)
        elements += index[i] * strides[i];
    return at ? at + elements * (int64_t)collet_dtype_size(collet_array_dtype(a)) : NULL;
}

/* 0, or -1 with an exception. */
static int store(collet_array *a, const int64_t *index, const collet_scalar *s)
{
    char *at = address_of(a, index, COLLET_WRITE);
    if (at) {
        memcpy(at, s->value.bytes, collet_dtype_size(s->dtype));
        return 0;
    }
    collet_context *context = runtime_context();
    if (context && collet_array_write_element(context, a, index, s) != COLLET_OK)
        runtime_raise(context);
    return PyErr_Occurred() ? -1 : 0;
}

/* Returns the element as an Array. NULL without an exception: the general indexing code has to read the element. */
static PyObject *element(collet_array *a, const int64_t *index)
{
    collet_scalar s = {.dtype = collet_array_dtype(a)};
    const char *at = address_of(a, index, COLLET_READ);
    if (at) {
        memcpy(s.value.bytes, at, collet_dtype_size(s.dtype));
        return array_of_number(&s);
    }
    collet_context *context = collet_array_is_on_host(a) ? runtime_context() : NULL;
    if (!context)
        return NULL;
    capture_fail();
    return collet_array_read_element(context, a, &s, index) == COLLET_OK ? array_of_number(&s)
                                                                         : runtime_raise(context);
}

static int has_ellipsis(PyObject *key)
{
    if (!PyTuple_Check(key))
        return key == Py_Ellipsis;
    for (Py_ssize_t i = 0; i < PyTuple_Size(key); i++)
        if (PyTuple_GetItem(key, i) == Py_Ellipsis)
            return 1;
    return 0;
}

static PyObject *subscript(PyObject *self, PyObject *key)
{
    int64_t index[COLLET_MAX_DIMS];
    collet_array_spec spec;
    collet_array *a = array_get(self);
    PyObject *found = a && index_of(key, a, index) ? element(a, index) : NULL;
    if (found || PyErr_Occurred())
        return found;
    if (array_check(key)) {
        PyObject *made = array_functions()->read(self, key);
        if (made != Py_None)
            return made;
        Py_DECREF(made);
    }
    PyObject *view = key_view(self, key), *copy;
    if (!view)
        return NULL;
    if (view == Py_None) {
        Py_DECREF(view);
        return PyObject_CallMethod(self, "_read", "(O)", key); /* of collet.Array */
    }
    if (array_describe(view, &spec) || spec.ndim || has_ellipsis(key))
        return view;
    copy = PyObject_CallMethod(view, "copy", NULL);
    Py_DECREF(view);
    return copy;
}

static int assign(PyObject *self, PyObject *key, PyObject *value)
{
    int64_t index[COLLET_MAX_DIMS];
    collet_scalar s = {.dtype = COLLET_DTYPE_NONE};
    if (!value) {
        PyErr_SetString(PyExc_TypeError, "elements of an Array cannot be deleted");
        return -1;
    }
    collet_array *a = array_get(self);
    if (!a)
        return -1;
    s.dtype = collet_array_dtype(a);
    if (index_of(key, a, index) && collet_array_is_on_host(a) && element_scalar(value, &s))
        return array_get_written(self) == a ? store(a, index, &s) : -1;
    PyObject *made = array_check(key) ? array_functions()->assign(self, key, value) : Py_NewRef(Py_None);
    if (made != Py_None) {
        Py_XDECREF(made);
        return made ? 0 : -1;
    }
    Py_DECREF(made);
    made = PyObject_CallMethod(self, "_assign", "OO", key, value); /* of collet.Array */
    Py_XDECREF(made);
    return made ? 0 : -1;
}

/* ---- Length and iteration ----------------------------------------------------------------- */

static Py_ssize_t length(PyObject *self)
{
    collet_array_spec spec;
    if (array_describe(self, &spec))
        return -1;
    if (spec.ndim)
        return (Py_ssize_t)spec.shape[0];
    PyErr_SetString(PyExc_TypeError, "an array without axes has no length");
    return -1;
}

static PyObject *nth(PyObject *self, Py_ssize_t i)
{
    int64_t index = i;
    collet_array *a = array_get(self);
    int inside = a && collet_array_ndim(a) == 1 && i >= 0 && i < collet_array_shape(a)[0];
    PyObject *found = inside ? element(a, &index) : NULL;
    if (found || PyErr_Occurred())
        return found;
    PyObject *key = PyLong_FromSsize_t(i);
    PyObject *made = key ? subscript(self, key) : NULL;
    Py_XDECREF(key);
    return made;
}

/* Faster than Python's own iterator, which would call __getitem__ of the class and make a tuple and an int for each
 * element. */
typedef struct iterator {
    PyObject_HEAD PyObject *array; /* NULL: after the end */
    Py_ssize_t next, end;
} iterator;

static PyTypeObject *iterator_type;

static PyObject *iterate(PyObject *self)
{
    Py_ssize_t end = length(self);
    iterator *made = end < 0 ? NULL : PyObject_New(iterator, iterator_type);
    if (made) {
        made->array = Py_NewRef(self);
        made->next = 0;
        made->end = end;
    }
    return (PyObject *)made;
}

static PyObject *iterator_next(PyObject *object)
{
    iterator *self = (iterator *)object;
    if (self->next < self->end)
        return nth(self->array, self->next++);
    Py_CLEAR(self->array);
    return NULL;
}

static PyObject *iterator_hint(PyObject *object, PyObject *Py_UNUSED(unused))
{
    const iterator *self = (iterator *)object;
    return PyLong_FromSsize_t(self->end - self->next);
}

static void iterator_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    Py_CLEAR(((iterator *)object)->array);
    PyObject_Free(object);
    Py_DECREF(type);
}

static int add_iterator(void)
{
    static PyMethodDef methods[] = {{"__length_hint__", iterator_hint, METH_NOARGS, NULL},
                                    {NULL, NULL, 0, NULL}};
    PyType_Slot slots[] = {{Py_tp_dealloc, iterator_dealloc},
                           {Py_tp_iter, PyObject_SelfIter},
                           {Py_tp_iternext, iterator_next},
                           {Py_tp_methods, methods},
                           {0, NULL}};
    PyType_Spec spec = {.name = "collet._core.Iterator",
                        .basicsize = sizeof(iterator),
                        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                        .slots = slots};
    iterator_type = (PyTypeObject *)PyType_FromSpec(&spec);
    return iterator_type ? 0 : -1;
}

const PyType_Slot element_slots[] = {{Py_mp_subscript, subscript},
                                     {Py_mp_ass_subscript, assign},
                                     {Py_mp_length, length},
                                     {Py_sq_item, nth},
                                     {Py_sq_length, length},
                                     {Py_tp_iter, iterate},
                                     {Py_nb_float, to_float},
                                     {Py_nb_int, to_int},
                                     {Py_nb_index, to_index},
                                     {Py_nb_bool, to_bool},
                                     {0, NULL}};

int element_add(void)
{
    static PyMethodDef method = {"item", item, METH_NOARGS,
                                 "item($self)\n--\n\nThe only element as a number of Python.\n\n"
                                 ">>> collet.asarray([2.5]).item()\n2.5"};
    return add_iterator() || array_add_method(&method) ? -1 : 0;
}
