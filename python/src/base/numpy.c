/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: python/tests/test_op.py, python/tests/test_array.py */
#include "numpy.h"

#include <string.h>

#include "dtype.h"
#include "error.h"

/* https://numpy.org/doc/stable/reference/arrays.interface.html */
#define ALIGNED 0x100
#define NATIVE 0x200
#define WRITABLE 0x400

typedef struct array_interface {
    int two;
    int nd;
    char kind;
    int itemsize;
    int flags;
    Py_ssize_t *shape;
    Py_ssize_t *strides; /* bytes */
    void *data;
    PyObject *descr;
} array_interface;

/* The layout of NumPy's own structs (PyArrayObject_fields, PyArray_Descr) has not changed since NumPy 1.7. Reading
 * these structs is faster than __array_struct__: making its capsule takes as long as the rest of a small call. The
 * structs are used only if they agree with the capsule (learn_layout). */
typedef struct array_fields {
    PyObject_HEAD void *data;
    int nd;
    Py_ssize_t *shape;
    Py_ssize_t *strides;
    PyObject *owner;
    PyObject *descr;
    int flags;
} array_fields;

typedef struct descr_fields {
    PyObject_HEAD PyObject *type;
    char kind, letter, byte_order, unused;
    int number;
} descr_fields;

/* Indexed by NumPy's number of the type; arrays of a type without an entry are read through the
 * capsule. */
static const struct {
    collet_dtype dtype;
    char kind;
    int size;
} numbered[] = {
    [0] = {COLLET_BOOL, 'b', 1},   [1] = {COLLET_I8, 'i', 1},   [2] = {COLLET_U8, 'u', 1},
    [3] = {COLLET_I16, 'i', 2},    [4] = {COLLET_U16, 'u', 2},  [5] = {COLLET_I32, 'i', 4},
    [6] = {COLLET_U32, 'u', 4},    [7] = {COLLET_I64, 'i', 8},  [8] = {COLLET_U64, 'u', 8},
    [11] = {COLLET_F32, 'f', 4},   [12] = {COLLET_F64, 'f', 8}, [14] = {COLLET_C64, 'c', 8},
    [15] = {COLLET_C128, 'c', 16}, [23] = {COLLET_F16, 'f', 2},
};
_Static_assert(sizeof(long) == 8, "numbers 7 and 8 are NumPy's long");

static int layout_known;
static PyObject *array_type, *empty, *asarray, *as_number, *copyto, *dtype_type, *interface_name;
static PyObject *dtypes[COLLET_DTYPE_COUNT];

/* NumPy's name of a dtype, its kind and its size. bfloat16 has no kind in NumPy: it is a type of the package
 * ml_dtypes. */
#define KIND_INT 'i'
#define KIND_UINT 'u'
#define KIND_FLOAT 'f'
#define KIND_BFLOAT 0
#define KIND_COMPLEX 'c'
#define KIND_BOOL 'b'
#define DESCRIPTION(NAME, id, bytes, text, letter, type, kind, name)                               \
    [id] = {name, KIND_##kind, bytes},
static const struct {
    const char *name;
    char kind;
    int size;
} known[COLLET_DTYPE_COUNT] = {COLLET_DTYPE_LIST(DESCRIPTION)};
#define NAME(NAME, id, bytes, text, letter, type, kind, name) " " name
static const char all_names[] = COLLET_DTYPE_LIST(NAME);

static int prepare(void);

int numpy_is_array(PyObject *object)
{
    /* If the program has not imported NumPy, no object is a NumPy array. */
    if (!array_type && PyDict_GetItemString(PyImport_GetModuleDict(), "numpy") && prepare())
        PyErr_Clear();
    return (PyObject *)Py_TYPE(object) == array_type;
}

/* ---- Element types ------------------------------------------------------------------------ */

PyObject *numpy_dtype(collet_dtype dtype)
{
    PyObject *module = NULL, *type;
    if (dtype <= 0 || dtype >= COLLET_DTYPE_COUNT)
        return error_format(COLLET_DTYPE, "%d is not a dtype", (int)dtype);
    if (dtypes[dtype])
        return Py_NewRef(dtypes[dtype]);
    if (prepare())
        return NULL;
    if (dtype != COLLET_BF16) {
        dtypes[dtype] = PyObject_CallFunction(dtype_type, "s", known[dtype].name);
        return Py_XNewRef(dtypes[dtype]);
    }
    module = PyImport_ImportModule("ml_dtypes");
    if (!module) {
        PyErr_Clear();
        return error_raise(COLLET_DTYPE, "NumPy has no bfloat16: pip install ml_dtypes");
    }
    type = PyObject_GetAttrString(module, "bfloat16");
    if (type)
        dtypes[dtype] = PyObject_CallFunctionObjArgs(dtype_type, type, NULL);
    Py_XDECREF(type);
    Py_DECREF(module);
    return Py_XNewRef(dtypes[dtype]);
}

/* The dtype of that kind and size; 0: libcore has none. */
static collet_dtype dtype_of(char kind, int size)
{
    for (collet_dtype d = 1; kind && d < COLLET_DTYPE_COUNT; d++)
        if (known[d].kind == kind && known[d].size == size)
            return d;
    return 0;
}

/* Whether NumPy's dtype is the bfloat16 of ml_dtypes, in this machine's order of bytes. */
static int is_bfloat16(PyObject *dtype)
{
    PyObject *name = PyObject_GetAttrString(dtype, "name");
    PyObject *native = name ? PyObject_GetAttrString(dtype, "isnative") : NULL;
    int found = native == Py_True && PyUnicode_CompareWithASCIIString(name, "bfloat16") == 0;
    Py_XDECREF(native);
    Py_XDECREF(name);
    PyErr_Clear();
    return found;
}

static collet_dtype parse_numpy(PyObject *dtype)
{
    PyObject *kind = PyObject_GetAttrString(dtype, "kind");
    PyObject *size = PyObject_GetAttrString(dtype, "itemsize");
    const char *letter = kind ? PyUnicode_AsUTF8AndSize(kind, NULL) : NULL;
    collet_dtype found = letter && size ? dtype_of(*letter, (int)PyLong_AsLong(size)) : 0;
    Py_XDECREF(kind);
    Py_XDECREF(size);
    return !found && is_bfloat16(dtype) ? COLLET_BF16 : found;
}

/* The dtype that NumPy (or, if NumPy has no such name, libcore) calls by this name; 0: none. Does not use NumPy,
 * because importing NumPy takes long. */
static collet_dtype parse_name(PyObject *text)
{
    for (collet_dtype d = 1; d < COLLET_DTYPE_COUNT; d++) {
        const char *own = collet_dtype_name(d);
        if (!PyUnicode_CompareWithASCIIString(text, known[d].name) ||
            (!PyUnicode_CompareWithASCIIString(text, own) && !dtype_foreign(own, strlen(own))))
            return d;
    }
    return 0;
}

/* Texts and types that were parsed before. */
static PyObject *parsed;

static collet_dtype parsed_before(PyObject *object)
{
    for (collet_dtype d = 1; d < COLLET_DTYPE_COUNT; d++)
        if (object == dtypes[d])
            return d;
    PyObject *found = parsed && (PyUnicode_CheckExact(object) || PyType_Check(object))
                          ? PyDict_GetItem(parsed, object)
                          : NULL;
    return found ? (collet_dtype)PyLong_AsLong(found) : 0;
}

static void remember(PyObject *object, collet_dtype dtype)
{
    PyObject *value =
        PyUnicode_CheckExact(object) || PyType_Check(object) ? PyLong_FromLong((long)dtype) : NULL;
    if (!parsed)
        parsed = PyDict_New();
    if (value && parsed)
        PyDict_SetItem(parsed, object, value);
    Py_XDECREF(value);
    PyErr_Clear();
}

collet_dtype numpy_dtype_parse(PyObject *object)
{
    PyObject *dtype, *text;
    collet_dtype found = parsed_before(object);
    if (found)
        return found;
    if (PyUnicode_Check(object) && (found = parse_name(object))) {
        remember(object, found);
        return found;
    }
    if (PyUnicode_Check(object) && !PyUnicode_CompareWithASCIIString(object, "f16")) {
        error_raise(COLLET_DTYPE,
                    "'f16' has 16 bytes in NumPy, and collet has no such dtype: write "
                    "float16 for 16 bits");
        return 0;
    }
    dtype = prepare() ? NULL : PyObject_CallFunctionObjArgs(dtype_type, object, NULL);
    if (!dtype)
        return 0;
    found = parse_numpy(dtype);
    Py_DECREF(dtype);
    if (found)
        remember(object, found);
    if (!found && (text = PyObject_Str(object))) {
        error_format(COLLET_DTYPE, "collet has no dtype %s; it has%s",
                     PyUnicode_AsUTF8AndSize(text, NULL), all_names);
        Py_DECREF(text);
    }
    return found;
}

/* ---- Arrays ------------------------------------------------------------------------------- */

PyObject *numpy_shape(int32_t ndim, const int64_t *shape)
{
    PyObject *tuple = PyTuple_New(ndim);
    for (int32_t i = 0; tuple && i < ndim; i++) {
        PyObject *extent = PyLong_FromLongLong(shape[i]);
        if (!extent || PyTuple_SetItem(tuple, i, extent)) {
            Py_DECREF(tuple);
            return NULL;
        }
    }
    return tuple;
}

PyObject *numpy_empty(collet_dtype dtype, int32_t ndim, const int64_t *shape)
{
    PyObject *extents = numpy_shape(ndim, shape), *type = numpy_dtype(dtype), *array = NULL;
    if (extents && type)
        array = PyObject_CallFunctionObjArgs(empty, extents, type, NULL);
    Py_XDECREF(extents);
    Py_XDECREF(type);
    return array;
}

/* Stores a function of _host.py in *kept at the first call. 0, or -1 with an exception. */
static int host_function(PyObject **kept, const char *name)
{
    PyObject *module = *kept ? NULL : PyImport_ImportModule("collet._host");
    if (module)
        *kept = PyObject_GetAttrString(module, name);
    Py_XDECREF(module);
    return *kept ? 0 : -1;
}

PyObject *numpy_number(PyObject *object, PyObject *name)
{
    if (PyFloat_CheckExact(object) || PyLong_CheckExact(object) || PyComplex_CheckExact(object) ||
        PyBool_Check(object))
        return Py_NewRef(object);
    return host_function(&as_number, "number")
               ? NULL
               : PyObject_CallFunctionObjArgs(as_number, object, name, NULL);
}

PyObject *numpy_asarray(PyObject *object, collet_dtype dtype, const char *name)
{
    PyObject *type = prepare() ? NULL : dtype ? numpy_dtype(dtype) : Py_NewRef(Py_None);
    if (!type || host_function(&asarray, "array")) {
        Py_XDECREF(type);
        return NULL;
    }
    return PyObject_CallFunction(asarray, "ONs", object, type, name);
}

PyObject *numpy_copy(PyObject *array, const collet_array_spec *spec)
{
    PyObject *copy = numpy_empty(spec->dtype, spec->ndim, spec->shape);
    PyObject *done = copy ? PyObject_CallFunctionObjArgs(copyto, copy, array, NULL) : NULL;
    Py_XDECREF(done);
    if (!done)
        Py_CLEAR(copy);
    return copy;
}

static int refuse_dtype(PyObject *array, const char *name)
{
    PyObject *dtype = PyObject_GetAttrString(array, "dtype");
    PyObject *text = dtype ? PyObject_Str(dtype) : NULL;
    const char *word = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
    PyObject *kind = word ? PyObject_GetAttrString(dtype, "kind") : NULL;
    const char *letter = kind ? PyUnicode_AsUTF8AndSize(kind, NULL) : NULL;
    if (letter && strchr("biufcV", *letter))
        error_format(COLLET_DTYPE,
                     "%s is %s, which collet does not support: convert it by astype "
                     "(float32, int32, uint8, ...)",
                     name, word);
    else if (letter)
        error_format(COLLET_DTYPE, "%s is %s: numbers are needed", name, word);
    Py_XDECREF(kind);
    Py_XDECREF(dtype);
    Py_XDECREF(text);
    return -1;
}

/* Strides in elements; axes of at most one element get the strides of a C-contiguous array. */
static int take_strides(const array_interface *a, numpy_view *view)
{
    int64_t contiguous = 1;
    for (int i = a->nd - 1; i >= 0; i--) {
        view->strides[i] = contiguous;
        if (a->shape[i] > 1) {
            if (a->strides && a->strides[i] % a->itemsize)
                return 0;
            if (a->strides)
                view->strides[i] = a->strides[i] / a->itemsize;
        }
        contiguous *= a->shape[i] > 0 ? a->shape[i] : 1;
    }
    return 1;
}

static int read_interface(const array_interface *a, PyObject *array, const char *name,
                          numpy_view *view)
{
    if (a->nd > COLLET_MAX_DIMS) {
        error_format(COLLET_SHAPE, "%s has %d axes; arrays have at most %d", name, a->nd,
                     COLLET_MAX_DIMS);
        return -1;
    }
    view->spec.dtype = dtype_of(a->kind, a->itemsize);
    if (!view->spec.dtype && a->kind == 'V' && a->itemsize == 2) {
        PyObject *dtype = PyObject_GetAttrString(array, "dtype");
        if (dtype && is_bfloat16(dtype))
            view->spec.dtype = COLLET_BF16;
        Py_XDECREF(dtype);
    }
    if (!view->spec.dtype)
        return refuse_dtype(array, name);
    view->spec.ndim = a->nd;
    for (int i = 0; i < a->nd; i++)
        view->spec.shape[i] = a->shape[i];
    view->data = a->data;
    view->writable = (a->flags & WRITABLE) != 0;
    /* For a type of another package (bfloat16, kind V) the flag NATIVE does not describe the elements. */
    view->usable =
        (a->flags & ALIGNED) && (a->flags & NATIVE || a->kind == 'V') && take_strides(a, view);
    return 0;
}

/* Fills *a from NumPy's structs. 0: the type is not known, so the capsule is needed. */
static int read_fields(PyObject *array, array_interface *a)
{
    const array_fields *f = (const array_fields *)(const void *)array;
    const descr_fields *d = (const descr_fields *)(const void *)f->descr;
    unsigned number = (unsigned)d->number;
    if (number >= sizeof numbered / sizeof *numbered || !numbered[number].dtype ||
        d->byte_order == '>' || d->byte_order == '<')
        return 0;
    *a = (array_interface){2,
                           f->nd,
                           numbered[number].kind,
                           numbered[number].size,
                           f->flags | NATIVE,
                           f->shape,
                           f->strides,
                           f->data,
                           f->descr};
    return 1;
}

/* Finds out whether this NumPy has the layout of array_fields and descr_fields: compares the pointers
 * with the pointers in the capsule before it follows them. */
static void learn_layout(void)
{
    PyObject *sample = PyObject_CallFunction(empty, "(iii)s", 5, 4, 3, "float32");
    PyObject *view = sample ? PyObject_CallMethod(sample, "swapaxes", "ii", 0, 2) : NULL;
    PyObject *descr = view ? PyObject_GetAttrString(view, "dtype") : NULL;
    PyObject *capsule = view ? PyObject_GetAttr(view, interface_name) : NULL;
    const array_interface *a = capsule ? PyCapsule_GetPointer(capsule, NULL) : NULL;
    const array_fields *f = (const array_fields *)(const void *)view;
    array_interface read;
    layout_known =
        a && descr && f->data == a->data && f->nd == 3 && f->descr == descr && f->owner == sample &&
        f->strides == f->shape + 3 && !memcmp(f->shape, a->shape, 3 * sizeof *f->shape) &&
        !memcmp(f->strides, a->strides, 3 * sizeof *f->strides) && read_fields(view, &read) &&
        read.kind == a->kind && read.itemsize == a->itemsize && read.flags == a->flags;
    Py_XDECREF(capsule);
    Py_XDECREF(descr);
    Py_XDECREF(view);
    Py_XDECREF(sample);
    PyErr_Clear();
}

static int view_by_capsule(PyObject *array, const char *name, numpy_view *view)
{
    PyObject *capsule = prepare() ? NULL : PyObject_GetAttr(array, interface_name);
    const array_interface *a = capsule ? PyCapsule_GetPointer(capsule, NULL) : NULL;
    int failed = -1;
    if (a && a->two == 2)
        failed = read_interface(a, array, name, view);
    else if (a)
        error_format(COLLET_INVALID, "%s: its __array_struct__ is of another version", name);
    Py_XDECREF(capsule);
    return failed;
}

int numpy_view_of(PyObject *array, const char *name, numpy_view *view)
{
    array_interface read;
    if (layout_known && numpy_is_array(array) && read_fields(array, &read))
        return read_interface(&read, array, name, view);
    return view_by_capsule(array, name, view);
}

/* Imports NumPy at its first use, because the import takes longer than the rest of the start. */
static int prepare(void)
{
    PyObject *numpy = array_type ? NULL : PyImport_ImportModule("numpy");
    if (!numpy)
        return array_type ? 0 : -1;
    empty = PyObject_GetAttrString(numpy, "empty");
    copyto = PyObject_GetAttrString(numpy, "copyto");
    dtype_type = PyObject_GetAttrString(numpy, "dtype");
    interface_name = PyUnicode_InternFromString("__array_struct__");
    array_type = PyObject_GetAttrString(numpy, "ndarray");
    Py_DECREF(numpy);
    if (empty && copyto && dtype_type && interface_name && array_type) {
        learn_layout();
        return 0;
    }
    Py_CLEAR(array_type);
    return -1;
}
