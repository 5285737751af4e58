/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: python/tests/op/test_indexing.py */
#include "key.h"

#include "array.h"
#include "capture.h"
#include "src/base/error.h"
#include "src/base/runtime.h"
#include "src/base/tracer.h"

/* The kinds of the parts of a key; ARRAY (an array or a mask) needs a copy of elements. */
typedef enum part { INTEGER, SLICE, NEW_AXIS, REST, ARRAY } part;

/* Whether an attribute is true or, if `equal` is given, equal to it. 0 if the attribute is absent; -1 with an
 * exception. */
static int truth_of(PyObject *object, const char *attribute, PyObject *equal)
{
    PyObject *found = PyObject_GetAttrString(object, attribute);
    if (!found && PyErr_ExceptionMatches(PyExc_AttributeError)) {
        PyErr_Clear();
        return 0;
    }
    int truth = !found  ? -1
                : equal ? PyObject_RichCompareBool(found, equal, Py_EQ)
                        : PyObject_IsTrue(found);
    Py_XDECREF(found);
    return truth;
}

/* -1 with an exception. */
static int part_of(PyObject *key, part *found)
{
    int copies = 0;
    *found = PyLong_CheckExact(key) ? INTEGER
             : PySlice_Check(key)   ? SLICE
             : key == Py_None       ? NEW_AXIS
             : key == Py_Ellipsis   ? REST
                                    : ARRAY;
    if (*found != ARRAY || PyBool_Check(key) || PyList_Check(key) || tracer_is(key))
        return 0;
    copies = truth_of(key, "ndim", NULL);
    if (!copies)
        copies = truth_of(key, "dtype", (PyObject *)&PyBool_Type);
    *found = copies ? ARRAY : INTEGER;
    return copies < 0 ? -1 : 0;
}

/* Part i of a key, which is a tuple or the only part. */
static PyObject *nth(PyObject *key, Py_ssize_t i)
{
    return PyTuple_Check(key) ? PyTuple_GetItem(key, i) : key;
}

/* Finds the parts of a key. Returns the number of axes that '...' stands for, and in *copies whether a part is an
 * array. -1 with an exception. */
static int parts_of(PyObject *key, Py_ssize_t count, int ndim, int *copies)
{
    int used = 0, dots = 0;
    *copies = 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        part found;
        if (part_of(nth(key, i), &found))
            return -1;
        *copies |= found == ARRAY;
        used += found == INTEGER || found == SLICE;
        dots += found == REST;
    }
    if (!*copies && used > ndim)
        PyErr_Format(PyExc_IndexError, "%d indices for an array of %d axes", used, ndim);
    else if (!*copies && dots > 1)
        PyErr_SetString(PyExc_IndexError, "more than one '...'");
    else
        return ndim - used;
    return -1;
}

/* ---- The view ------------------------------------------------------------------------------- */

typedef struct walk {
    collet_context *context;
    const collet_array *from;
    collet_array *view; /* owned; NULL: no part of the key has made a view yet */
    int changed;        /* 1: the result has axes that the view lacks */
    uint32_t number;    /* of the view in a capture */
    int32_t axis, ndim; /* numbers of axes processed so far: of the view, of the result */
    int64_t shape[COLLET_MAX_DIMS];
} walk;

static int add_extent(walk *w, int64_t extent)
{
    if (w->ndim == COLLET_MAX_DIMS) {
        error_format(COLLET_SHAPE, "more than %d axes; arrays have at most that many",
                     COLLET_MAX_DIMS);
        return -1;
    }
    w->shape[w->ndim++] = extent;
    return 0;
}

static const collet_array *current(const walk *w)
{
    return w->view ? w->view : w->from;
}

static int64_t extent_of(const walk *w)
{
    return collet_array_shape(current(w))[w->axis];
}

/* Takes the next view, which a function of libcore stored. status: what the function returned. */
static int advance(walk *w, collet_status status, collet_array *next)
{
    if (status != COLLET_OK) {
        runtime_raise(w->context);
        return -1;
    }
    collet_array_destroy(w->view);
    w->view = next;
    return 0;
}

static int cut(walk *w, int64_t start, int64_t count, int64_t step)
{
    collet_array *next = NULL;
    if (start == 0 && step == 1 && count == extent_of(w))
        return 0;
    collet_status status =
        collet_array_slice(w->context, current(w), &next, w->axis, start, count, step);
    const int64_t numbers[] = {w->axis, start, count, step};
    w->number = capture_view(w->number, COLLET_VIEW_SLICE, numbers, 4);
    return advance(w, status, next);
}

static int take_slice(walk *w, PyObject *key)
{
    Py_ssize_t start, stop, step;
    if (PySlice_Unpack(key, &start, &stop, &step))
        return -1;
    Py_ssize_t count = PySlice_AdjustIndices((Py_ssize_t)extent_of(w), &start, &stop, step);
    if (cut(w, count ? start : 0, count, step) || add_extent(w, count))
        return -1;
    w->axis++;
    return 0;
}

static int take_integer(walk *w, PyObject *key)
{
    int overflow;
    int64_t extent = extent_of(w);
    PyObject *index = PyNumber_Index(key);
    if (!index && PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Clear();
        PyObject *name = PyObject_GetAttrString((PyObject *)Py_TYPE(key), "__name__");
        PyErr_Format(
            PyExc_TypeError,
            "an index is an integer, a slice, '...', None, a mask or an array of integers, not %S",
            name);
        Py_XDECREF(name);
    }
    if (!index)
        return -1;
    int64_t i = PyLong_AsLongLongAndOverflow(index, &overflow);
    int inside = !overflow && i >= -extent && i < extent;
    if (!inside)
        PyErr_Format(PyExc_IndexError, "index %S is out of range for axis %d of length %lld", index,
                     (int)(w->axis + collet_array_ndim(w->from) - collet_array_ndim(current(w))),
                     (long long)extent);
    Py_DECREF(index);
    if (!inside)
        return -1;
    collet_array *next = NULL;
    collet_status status = collet_array_select(w->context, current(w), &next, w->axis, i);
    w->number = capture_view(w->number, COLLET_VIEW_SELECT, (int64_t[]){w->axis, i}, 2);
    return advance(w, status, next);
}

static int take_axes(walk *w, int count)
{
    for (int i = 0; i < count; i++, w->axis++)
        if (add_extent(w, extent_of(w)))
            return -1;
    return 0;
}

static int take(walk *w, PyObject *key, int rest)
{
    part found;
    if (part_of(key, &found))
        return -1;
    w->changed |= found == NEW_AXIS;
    return found == SLICE      ? take_slice(w, key)
           : found == NEW_AXIS ? add_extent(w, 1)
           : found == REST     ? take_axes(w, rest)
                               : take_integer(w, key);
}

static int take_all(walk *w, PyObject *key, Py_ssize_t count, int rest)
{
    for (Py_ssize_t i = 0; i < count; i++)
        if (take(w, nth(key, i), rest))
            return -1;
    return take_axes(w, collet_array_ndim(current(w)) - w->axis);
}

/* Returns the view with the axes of the result. NULL with an exception. */
static collet_array *finish(walk *w)
{
    collet_array *found = w->view;
    if (found && !w->changed) {
        w->view = NULL;
        return found;
    }
    w->number = capture_view(w->number, COLLET_VIEW_RESHAPE, w->shape, w->ndim);
    return collet_array_reshape(w->context, current(w), &found, w->ndim, w->shape) == COLLET_OK
               ? found
               : runtime_raise(w->context);
}

PyObject *key_view(PyObject *self, PyObject *key)
{
    int copies;
    PyObject *view = NULL;
    const collet_array *a = array_get(self);
    walk w = {.from = a, .context = a ? runtime_context() : NULL};
    w.number = w.context && capture_now() ? capture_number(array_value(self)) : CAPTURE_UNKNOWN;
    Py_ssize_t count = PyTuple_Check(key) ? PyTuple_Size(key) : 1;
    int rest = w.context ? parts_of(key, count, collet_array_ndim(a), &copies) : -1;
    if (w.context && !PyErr_Occurred() && copies)
        view = Py_NewRef(Py_None);
    else if (rest >= 0 && !take_all(&w, key, count, rest))
        view = array_view(self, finish(&w));
    if (view && view != Py_None && capture_now())
        capture_name(array_value(view), w.number, CAPTURE_VIEW);
    collet_array_destroy(w.view);
    return view;
}

int key_add(void)
{
    static PyMethodDef method = {
        "_at", key_view, METH_O,
        "A view: a key of integers, slices, None and '...'; None: other keys."};
    return array_add_method(&method);
}
