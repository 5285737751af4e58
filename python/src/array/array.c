/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: python/tests/test_array.py */
#include "array.h"

#include <stddef.h>
#include <string.h>
#include <structmember.h>

#include "src/base/dtype.h"
#include "src/base/error.h"
#include "src/base/numpy.h"
#include "src/base/runtime.h"
#include "capture.h"

/* An Array has a value; or it waits to be computed, and has a node; or it is a number without axes. The value of a
 * number is made when something needs it. */
typedef struct array_object {
    PyObject_HEAD lazy_value *value;
    node *node;
    uint64_t generation;  /* of the runtime of the value or node */
    collet_scalar number; /* dtype 0: the Array is not a number */
    PyObject *references; /* weak references */
} array_object;

static const array_upper *upper;
static PyTypeObject *base; /* collet.Array, and its functions */
static allocfunc allocate;
static freefunc release;

int array_check(PyObject *object)
{
    return PyObject_TypeCheck(object, base);
}

void *array_raise_forked(void)
{
    return error_raise(COLLET_FORKED,
                       "this collet.Array was made before the process was forked: make it in "
                       "the child, or send it pickled or as a NumPy array");
}

/* ---- Values and nodes --------------------------------------------------------------------- */

static void count(array_object *self, int change)
{
    if (change > 0)
        self->generation = runtime_generation();
    runtime_count_array(self->generation, change);
}

/* Makes the value of a number. */
static lazy_value *make_value(array_object *self)
{
    collet_array *array;
    collet_context *context = runtime_context(); /* may run other code that makes the value */
    if (!context || self->value)
        return context ? self->value : NULL;
    if (collet_array_create(context, &array, self->number.dtype, 0, NULL) != COLLET_OK)
        return runtime_raise(context);
    if (collet_array_write_element(context, array, NULL, &self->number) != COLLET_OK) {
        collet_array_destroy(array);
        return runtime_raise(context);
    }
    lazy_value *v = value_new(array, NULL);
    if (!v)
        return NULL;
    capture_constant(v);
    count(self, 1);
    self->value = v;
    self->number.dtype = COLLET_DTYPE_NONE;
    value_attach(v, (PyObject *)self);
    return v;
}

lazy_value *array_value(PyObject *object)
{
    array_object *self = (array_object *)object;
    if (self->value)
        return self->value;
    return self->number.dtype
               ? make_value(self)
               : error_raise(COLLET_INVALID, "this collet.Array was not initialised");
}

int array_number(PyObject *object, collet_scalar *number)
{
    *number = ((array_object *)object)->number;
    return number->dtype != COLLET_DTYPE_NONE;
}

node *array_node(PyObject *object)
{
    return ((array_object *)object)->node;
}

int array_describe(PyObject *object, collet_array_spec *spec)
{
    const array_object *self = (array_object *)object;
    if (self->number.dtype) {
        spec->dtype = self->number.dtype;
        spec->ndim = 0;
        return 0;
    }
    const lazy_value *v = self->node ? NULL : array_value(object);
    if (self->node)
        *spec = self->node->spec;
    else if (v)
        array_spec(v->array, spec);
    return self->node || v ? 0 : -1;
}

collet_dtype array_dtype_of(PyObject *object)
{
    const array_object *self = (array_object *)object;
    return self->node    ? self->node->spec.dtype
           : self->value ? collet_array_dtype(self->value->array)
                         : self->number.dtype;
}

collet_array *array_get(PyObject *object)
{
    node *n = array_node(object);
    if (n) {
        int failed = upper->compute(node_ref(n));
        node_unref(n);
        if (failed)
            return NULL;
    }
    const lazy_value *v = array_value(object);
    if (v && v->generation != runtime_generation())
        return array_raise_forked();
    return v ? v->array : NULL;
}

int array_has_readers(PyObject *object)
{
    const memory *m = ((array_object *)object)->value->memory;
    return m && (m->readers || m->pins);
}

int array_settle_readers(PyObject *object)
{
    return array_has_readers(object) ? upper->before_write(((array_object *)object)->value) : 0;
}

void array_begin_write(PyObject *object)
{
    memory_begin_write(((array_object *)object)->value->memory);
}

collet_array *array_get_written(PyObject *object)
{
    collet_array *array = array_get(object);
    if (!array || array_settle_readers(object))
        return NULL;
    capture_fail();
    array_begin_write(object);
    return array;
}

void array_spec(const collet_array *array, collet_array_spec *spec)
{
    spec->dtype = collet_array_dtype(array);
    spec->ndim = collet_array_ndim(array);
    memcpy(spec->shape, collet_array_shape(array), (size_t)spec->ndim * sizeof *spec->shape);
}

int array_is_dense(const collet_array *a, int first)
{
    int32_t ndim = collet_array_ndim(a);
    int64_t step = 1;
    for (int32_t i = 0; i < ndim; i++) {
        int32_t axis = first ? i : ndim - 1 - i;
        int64_t extent = collet_array_shape(a)[axis];
        if (extent > 1 && collet_array_strides(a)[axis] != step)
            return 0;
        step *= extent;
    }
    return 1;
}

static array_object *new_object(void)
{
    array_object *self = (array_object *)allocate(base, 0);
    if (self)
        count(self, 1);
    return self;
}

/* An Array that is a number needs no runtime, so the number of Arrays of the runtime does not include it. */
PyObject *array_of_number(const collet_scalar *number)
{
    array_object *self = (array_object *)allocate(base, 0);
    if (self)
        self->number = *number;
    return (PyObject *)self;
}

/* A new Array of the value. Takes the reference to the value, even on failure. */
static PyObject *object_of(lazy_value *v)
{
    array_object *self = v ? new_object() : NULL;
    if (!self) {
        value_unref(v);
        return NULL;
    }
    self->value = v;
    value_attach(v, (PyObject *)self);
    return (PyObject *)self;
}

PyObject *array_of_value(lazy_value *v)
{
    int ends =
        v->object &&
        !Py_REFCNT(v->object); /* the Array is being freed, and its weak references are called */
    return v->object && !ends ? Py_NewRef(v->object) : object_of(value_ref(v));
}

PyObject *array_of_node(node *n)
{
    array_object *self = new_object(); /* may run other code that computes the node */
    if (self && n->value) {
        self->value = value_ref(n->value);
        value_attach(n->value, (PyObject *)self);
    } else if (self) {
        self->node = node_ref(n);
        node_own(n, (PyObject *)self);
    }
    return (PyObject *)self;
}

void array_settle(PyObject *owner, lazy_value *v)
{
    array_object *self = (array_object *)owner;
    node *n = self->node;
    self->node = NULL;
    self->value = value_ref(v);
    value_attach(v, owner);
    n->owner = NULL;
    node_unref(n);
}

PyObject *array_new(collet_array *array)
{
    return object_of(value_new(array, NULL));
}

static void array_dealloc(PyObject *object)
{
    array_object *self = (array_object *)object;
    PyTypeObject *type = Py_TYPE(object);
    if (self->references)
        PyObject_ClearWeakRefs(object);
    lazy_value *v = self->value;
    node *n = self->node;
    if (v || n)
        count(self, -1);
    if (n)
        node_own(n, NULL);
    if (v && v->object == object)
        value_attach(v, NULL);
    node_unref(n);
    value_unref(v);
    (type == base ? release : (freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
    if (v || n)
        upper->released();
}

/* ---- Properties --------------------------------------------------------------------------- */

static PyObject *get_shape(PyObject *self, void *Py_UNUSED(unused))
{
    collet_array_spec spec;
    return array_describe(self, &spec) ? NULL : numpy_shape(spec.ndim, spec.shape);
}

static PyObject *get_strides(PyObject *self, void *Py_UNUSED(unused))
{
    const collet_array *a = array_node(self) ? array_get(self) : NULL;
    const lazy_value *v = a || PyErr_Occurred() ? NULL : array_value(self);
    a = v ? v->array : a;
    return a ? numpy_shape(collet_array_ndim(a), collet_array_strides(a)) : NULL;
}

static PyObject *get_ndim(PyObject *self, void *Py_UNUSED(unused))
{
    collet_array_spec spec;
    return array_describe(self, &spec) ? NULL : PyLong_FromLong(spec.ndim);
}

int64_t array_size_of(const collet_array_spec *spec)
{
    int64_t size = 1;
    for (int32_t i = 0; i < spec->ndim; i++)
        size *= spec->shape[i];
    return size;
}

static PyObject *get_size(PyObject *self, void *Py_UNUSED(unused))
{
    collet_array_spec spec;
    return array_describe(self, &spec) ? NULL : PyLong_FromLongLong(array_size_of(&spec));
}

static PyObject *get_itemsize(PyObject *self, void *Py_UNUSED(unused))
{
    collet_array_spec spec;
    return array_describe(self, &spec) ? NULL : PyLong_FromSize_t(collet_dtype_size(spec.dtype));
}

static PyObject *get_dtype(PyObject *self, void *Py_UNUSED(unused))
{
    collet_array_spec spec;
    return array_describe(self, &spec) ? NULL : PyUnicode_FromString(dtype_name(spec.dtype));
}

/* ---- Views -------------------------------------------------------------------------------- */

PyObject *array_view(PyObject *self, collet_array *view)
{
    return view ? object_of(value_new(view, array_value(self))) : NULL;
}

/* Makes an Array of *view, a view of the elements of `self` that a function of libcore stored. status: the status
 * that the function returned; if it is an error, raises it. NULL with an exception. */
static PyObject *viewed(PyObject *self, collet_context *context, collet_status status,
                        collet_array **view)
{
    return array_view(self, status == COLLET_OK ? *view : runtime_raise(context));
}

/* The Array of a view that a capture follows. */
static PyObject *captured(PyObject *self, PyObject *view, uint32_t what, const int64_t *numbers,
                          int count)
{
    if (view && capture_now())
        capture_name(array_value(view),
                     capture_view(capture_number(array_value(self)), what, numbers, count),
                     CAPTURE_VIEW);
    return view;
}

static PyObject *slice(PyObject *self, PyObject *arguments)
{
    int axis;
    long long start, count, step;
    collet_array *view, *a = array_get(self);
    collet_context *context = a ? runtime_context() : NULL;
    if (!context || !PyArg_ParseTuple(arguments, "iLLL", &axis, &start, &count, &step))
        return NULL;
    collet_status status = collet_array_slice(context, a, &view, axis, start, count, step);
    const int64_t numbers[] = {axis, start, count, step};
    return captured(self, viewed(self, context, status, &view), COLLET_VIEW_SLICE, numbers, 4);
}

static PyObject *part(PyObject *self, PyObject *imaginary)
{
    collet_array *view, *a = array_get(self);
    collet_context *context = a ? runtime_context() : NULL;
    int imag = context ? PyObject_IsTrue(imaginary) : -1;
    if (imag < 0)
        return NULL;
    return viewed(self, context, (imag ? collet_array_imag : collet_array_real)(context, a, &view),
                  &view);
}

static PyObject *low(PyObject *self, PyObject *wanted)
{
    collet_dtype dtype = numpy_dtype_parse(wanted);
    collet_array *view, *a = dtype ? array_get(self) : NULL;
    collet_context *context = a ? runtime_context() : NULL;
    return context ? viewed(self, context, collet_array_low(context, a, &view, dtype), &view) : NULL;
}

/* -1 with an exception. */
static int64_t extent_of(PyObject *object, Py_ssize_t i)
{
    PyObject *index = object ? PyNumber_Index(object) : NULL;
    int overflow = 0;
    int64_t value = index ? PyLong_AsLongLongAndOverflow(index, &overflow) : -1;
    Py_XDECREF(index);
    if (overflow)
        error_format(COLLET_OVERFLOW, "extent or axis %zd does not fit in 64 bits", i);
    return value;
}

int array_extents(PyObject *sequence, int64_t *values)
{
    if (PyIndex_Check(sequence) && !array_check(sequence) && !PySequence_Check(sequence)) {
        values[0] = extent_of(sequence, 0);
        return PyErr_Occurred() ? -1 : 1;
    }
    Py_ssize_t count = PySequence_Check(sequence) ? PySequence_Size(sequence) : -1;
    if (count < 0)
        PyErr_Format(PyExc_TypeError, "extents or axes are a sequence of integers, not %R",
                     sequence);
    if (count > COLLET_MAX_DIMS)
        error_format(COLLET_SHAPE, "%zd axes; arrays have at most %d", count, COLLET_MAX_DIMS);
    if (count < 0 || count > COLLET_MAX_DIMS)
        return -1;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *item = PySequence_GetItem(sequence, i);
        values[i] = extent_of(item, i);
        Py_XDECREF(item);
        if (values[i] == -1 && PyErr_Occurred())
            return -1;
    }
    return (int)count;
}

static PyObject *permute(PyObject *self, PyObject *axes)
{
    int64_t given[COLLET_MAX_DIMS];
    int32_t perm[COLLET_MAX_DIMS];
    collet_array *view, *a = array_get(self);
    collet_context *context = a ? runtime_context() : NULL;
    int count = !context ? -1 : axes == Py_None ? collet_array_ndim(a) : array_extents(axes, given);
    if (count < 0)
        return NULL;
    for (int i = 0; axes == Py_None && i < count; i++)
        given[i] = count - 1 - i;
    if (count != collet_array_ndim(a))
        return error_format(COLLET_SHAPE,
                            "permute got %d axes for an array with %d; name each axis once", count,
                            (int)collet_array_ndim(a));
    for (int i = 0; i < count; i++) {
        int64_t axis = given[i] < 0 ? given[i] + count : given[i];
        perm[i] = axis < 0 || axis >= count ? count
                                            : (int32_t)axis; /* an invalid axis is refused below */
    }
    for (int i = 0; i < count; i++)
        given[i] = perm[i];
    return captured(self,
                    viewed(self, context, collet_array_permute(context, a, &view, perm), &view),
                    COLLET_VIEW_PERMUTE, given, count);
}

static PyObject *diagonal(PyObject *self, PyObject *Py_UNUSED(unused))
{
    collet_array *view, *a = array_get(self);
    collet_context *context = a ? runtime_context() : NULL;
    return context ? viewed(self, context, collet_array_diagonal(context, a, &view), &view) : NULL;
}

static PyObject *windows(PyObject *self, PyObject *arguments)
{
    int axis;
    long long length;
    collet_array *view, *a = array_get(self);
    collet_context *context = a ? runtime_context() : NULL;
    if (!context || !PyArg_ParseTuple(arguments, "iL", &axis, &length))
        return NULL;
    return viewed(self, context, collet_array_windows(context, a, &view, axis, length), &view);
}

/* collet_array_reshape or collet_array_broadcast. */
typedef collet_status shaper(collet_context *context, const collet_array *array,
                             collet_array **view, int32_t ndim, const int64_t *shape);

static PyObject *shaped(PyObject *self, PyObject *shape, shaper *function)
{
    int64_t extents[COLLET_MAX_DIMS];
    collet_array *view, *a = array_get(self);
    collet_context *context = a ? runtime_context() : NULL;
    int count = context ? array_extents(shape, extents) : -1;
    if (count < 0)
        return NULL;
    return captured(self, viewed(self, context, function(context, a, &view, count, extents), &view),
                    function == collet_array_reshape ? COLLET_VIEW_RESHAPE : COLLET_VIEW_BROADCAST,
                    extents, count);
}

static PyObject *reshape(PyObject *self, PyObject *shape)
{
    return shaped(self, shape, collet_array_reshape);
}

/* Replaces an extent of -1 by the number with which the product of all extents is `size`. */
static void fill_extent(int64_t *extents, int count, int64_t size)
{
    int64_t known = 1;
    int at = -1;
    for (int i = 0; i < count; i++)
        if (extents[i] != -1 || at >= 0)
            known *= extents[i] ? extents[i] : 1;
        else
            at = i;
    for (int i = 0; i < count; i++)
        if (!extents[i])
            size = 0;
    if (at >= 0)
        extents[at] = size / known;
}

/* reshape(*shape): returns a view; a copy if the strides allow no view. */
static PyObject *reshape_any(PyObject *self, PyObject *arguments)
{
    int64_t extents[COLLET_MAX_DIMS], wanted = 1;
    collet_array *view, *a = array_get(self);
    PyObject *shape = PyTuple_Size(arguments) == 1 ? PyTuple_GetItem(arguments, 0) : arguments;
    collet_context *context = a ? runtime_context() : NULL;
    int count = context ? array_extents(shape, extents) : -1;
    if (count < 0)
        return NULL;
    fill_extent(extents, count, collet_array_size(a));
    collet_status status = collet_array_reshape(context, a, &view, count, extents);
    for (int i = 0; i < count; i++)
        if (extents[i] < 0 || __builtin_mul_overflow(wanted, extents[i], &wanted))
            wanted = -1;
    if (status != COLLET_SHAPE || wanted != collet_array_size(a))
        return captured(self, viewed(self, context, status, &view), COLLET_VIEW_RESHAPE, extents,
                        count);
    PyObject *copy = PyObject_CallMethod(self, "copy", NULL);
    a = copy ? array_get(copy) : NULL;
    context = a ? runtime_context() : NULL;
    PyObject *made =
        context ? captured(copy,
                           viewed(copy, context,
                                  collet_array_reshape(context, a, &view, count, extents), &view),
                           COLLET_VIEW_RESHAPE, extents, count)
                : NULL;
    Py_XDECREF(copy);
    return made;
}

static PyObject *broadcast(PyObject *self, PyObject *shape)
{
    return shaped(self, shape, collet_array_broadcast);
}

int array_add_type(PyObject *module, const array_upper *functions, const PyType_Slot *const *others)
{
    static PyGetSetDef properties[] = {
        {"shape", get_shape, NULL, "The extents.", NULL},
        {"strides", get_strides, NULL, "The strides, in elements.", NULL},
        {"ndim", get_ndim, NULL, "The number of axes.", NULL},
        {"size", get_size, NULL, "The number of elements.", NULL},
        {"itemsize", get_itemsize, NULL, "Bytes of an element.", NULL},
        {"_dtype", get_dtype, NULL, "libcore's name of the dtype.", NULL},
        {NULL, NULL, NULL, NULL, NULL}};
    static PyMethodDef methods[] = {
        {"_slice", slice, METH_VARARGS, "A view: axis, start, count, step."},
        {"_low", low, METH_O, "A view: the low bits of integers as a dtype that is not wider."},
        {"_part", part, METH_O, "A view: the imaginary parts if true, else the real ones."},
        {"_permute", permute, METH_O, "A view: axes; None: reversed."},
        {"_diagonal", diagonal, METH_NOARGS, "A view: the diagonal of the last two axes."},
        {"_windows", windows, METH_VARARGS, "A view: axis, length of the windows."},
        {"_reshape", reshape, METH_O, "A view: shape."},
        {"reshape", reshape_any, METH_VARARGS,
         "reshape(*shape)\n--\n\n"
         "A view with another shape, or a copy if strides allow no view; -1: the remaining "
         "extent.\n\n"
         ">>> x = collet.asarray([[1.0, 2], [3, 4]])\n"
         ">>> x.reshape(4, 1).shape\n"
         "(4, 1)"},
        {"_broadcast", broadcast, METH_O, "A view: shape."},
        {NULL, NULL, 0, NULL}};
    static PyMemberDef members[] = {{"__weaklistoffset__", T_PYSSIZET,
                                     offsetof(array_object, references), READONLY, NULL},
                                    {NULL, 0, 0, 0, NULL}};
    PyType_Slot slots[64] = {{Py_tp_dealloc, array_dealloc},
                             {Py_tp_members, members},
                             {Py_tp_getset, properties},
                             {Py_tp_methods, methods},
                             {Py_tp_doc, "The part of collet.Array that is written in C."}};
    size_t first = 0;
    while (slots[first].slot)
        first++;
    for (; *others; others++)
        for (const PyType_Slot *s = *others; s->slot; s++)
            slots[first++] = *s;
    PyType_Spec spec = {.name = "collet.Array",
                        .basicsize = sizeof(array_object),
                        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                        .slots = slots};
    upper = functions;
    base = (PyTypeObject *)PyType_FromSpec(&spec);
    if (!base)
        return -1;
    allocate = (allocfunc)PyType_GetSlot(base, Py_tp_alloc);
    release = (freefunc)PyType_GetSlot(base, Py_tp_free);
    return PyModule_AddObjectRef(module, "Array", (PyObject *)base);
}

const array_upper *array_functions(void)
{
    return upper;
}

int array_add_method(PyMethodDef *method)
{
    PyObject *made = PyDescr_NewMethod(base, method);
    int failed = made ? PyObject_SetAttrString((PyObject *)base, method->ml_name, made) : -1;
    Py_XDECREF(made);
    return failed;
}

/* ---- Functions ---------------------------------------------------------------------------- */

/* array_dtype returns NumPy's dtype, array_dtype_name its name. Both accept whatever numpy_dtype_parse accepts. */
PyObject *array_dtype(PyObject *Py_UNUSED(module), PyObject *name)
{
    collet_dtype dtype = numpy_dtype_parse(name);
    return dtype ? numpy_dtype(dtype) : NULL;
}

PyObject *array_dtype_name(PyObject *Py_UNUSED(module), PyObject *name)
{
    collet_dtype dtype = numpy_dtype_parse(name);
    return dtype ? PyUnicode_FromString(dtype_name(dtype)) : NULL;
}

PyObject *array_dtype_letters(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused))
{
#define LETTER(NAME, id, bytes, text, letter, type, kind, name) {name, letter},
    static const struct {
        const char *name;
        char letter;
    } letters[] = {COLLET_DTYPE_LIST(LETTER)};
    PyObject *found = PyDict_New();
    for (size_t i = 0; found && i < sizeof letters / sizeof *letters; i++) {
        PyObject *name = PyUnicode_FromString(letters[i].name);
        char letter[] = {letters[i].letter, '\0'};
        if (!name || PyDict_SetItemString(found, letter, name) < 0)
            Py_CLEAR(found);
        Py_XDECREF(name);
    }
    return found;
}

/* (shape, dtype); None: float64 */
PyObject *array_empty(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t given)
{
    int64_t extents[COLLET_MAX_DIMS];
    collet_array *array;
    collet_dtype dtype;
    collet_context *context;
    int count;
    if (given != 2) {
        PyErr_SetString(PyExc_TypeError, "empty takes a shape and a dtype");
        return NULL;
    }
    if ((count = array_extents(arguments[0], extents)) < 0 ||
        !(dtype = arguments[1] == Py_None ? COLLET_F64 : numpy_dtype_parse(arguments[1])) ||
        !(context = runtime_context()))
        return NULL;
    return collet_array_create(context, &array, dtype, count, extents) == COLLET_OK
               ? array_new(array)
               : runtime_raise(context);
}
