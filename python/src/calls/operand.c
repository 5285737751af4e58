/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: python/tests/test_op.py, python/tests/test_lossy_input.py */
#include "operand.h"

#include <stdlib.h>
#include <string.h>

#include "src/array/array.h"
#include "src/base/error.h"

void operand_start(operand *o)
{
    o->array = o->wrapped = NULL;
    o->object = NULL;
    o->host = o->absent = 0;
}

/* Stores the Array `object` and its array. -1 if `array` is NULL, with an exception. */
static int take_array(operand *o, PyObject *object, collet_array *array)
{
    o->array = array;
    if (!array)
        return -1;
    o->object = Py_NewRef(object);
    array_spec(o->array, &o->view.spec);
    return 0;
}

/* Stores a Python number in o->number. 1; 0: NumPy must convert it; -1 with an exception. */
static int take_number(operand *o, PyObject *object, const char *name, collet_dtype dtype)
{
    double value;
    int beyond = 1;
    long long integer = 0;
    if (PyFloat_CheckExact(object))
        value = PyFloat_AsDouble(object);
    else if (PyLong_CheckExact(object))
        value = PyLong_AsDouble(object);
    else
        return 0;
    if (value == -1 && PyErr_Occurred())
        return error_too_large(name);
    if (PyLong_CheckExact(object)) /* f32 from the integer: from f64 it would be rounded twice */
        integer = PyLong_AsLongLongAndOverflow(object, &beyond);
    const float single = beyond ? (float)value : (float)integer;
    if (dtype == COLLET_F64)
        memcpy(o->number, &value, sizeof value);
    else if (dtype == COLLET_F32)
        memcpy(o->number, &single, sizeof(float));
    else if (dtype == COLLET_C128)
        memcpy(o->number, &(collet_c128){value, 0}, sizeof(collet_c128));
    else if (dtype == COLLET_C64)
        memcpy(o->number, &(collet_c64){single, 0}, sizeof(collet_c64));
    else
        return 0;
    o->view.spec.dtype = dtype;
    o->view.spec.ndim = 0;
    o->view.data = o->number;
    o->host = 1;
    return 1;
}

static int take_memory(operand *o, PyObject *array, const char *name)
{
    if (numpy_view_of(array, name, &o->view))
        return -1;
    o->host = 1;
    if (o->view.usable) {
        o->object = Py_NewRef(array);
        return 0;
    }
    o->object = numpy_copy(array, &o->view.spec);
    return o->object ? numpy_view_of(o->object, name, &o->view) : -1;
}

int operand_input(operand *o, PyObject *object, const char *name, collet_dtype like)
{
    PyObject *array;
    int failed;
    if (array_check(object))
        return take_array(o, object, array_get(object));
    if (numpy_is_array(object))
        return take_memory(o, object, name);
    failed = like ? take_number(o, object, name, like) : 0;
    if (failed)
        return failed < 0 ? -1 : 0;
    if (!PyFloat_CheckExact(object) && !PyLong_CheckExact(object) && !PyComplex_CheckExact(object))
        like = 0;
    array = numpy_asarray(object, like, name);
    if (!array)
        return -1;
    failed = take_memory(o, array, name);
    Py_DECREF(array);
    return failed;
}

int operand_output(operand *o, PyObject *object, const char *name)
{
    if (array_check(object))
        return take_array(o, object, array_get(object));
    if (!numpy_is_array(object)) {
        PyErr_Format(PyExc_TypeError, "%s: an output is a collet.Array or numpy.ndarray, not %R",
                     name, (PyObject *)Py_TYPE(object));
        return -1;
    }
    if (numpy_view_of(object, name, &o->view))
        return -1;
    if (!o->view.writable || !o->view.usable) {
        error_format(COLLET_INVALID, "the output %s is %s", name,
                     !o->view.writable
                         ? "read-only"
                         : "not aligned, of another byte order, or has strides that "
                           "are not a multiple of its elements: use a contiguous array");
        return -1;
    }
    o->host = 1;
    o->object = Py_NewRef(object);
    return 0;
}

/* ---- Outputs that are made ---------------------------------------------------------------- */

/* The strides of an input that has the shape of `spec` and repeats no elements; NULL for other
 * inputs. */
static const int64_t *strides_like(const operand *o, const collet_array_spec *spec)
{
    const collet_array_spec *mine = &o->view.spec;
    const int64_t *strides = o->host    ? o->view.strides
                             : o->array ? collet_array_strides(o->array)
                                        : NULL;
    if (!o->object || !strides || mine->ndim != spec->ndim)
        return NULL;
    for (int32_t i = 0; i < spec->ndim; i++)
        if (mine->shape[i] != spec->shape[i] || (strides[i] == 0 && spec->shape[i] > 1))
            return NULL;
    return strides;
}

/* Whether the strides of the axes, in this order, never increase; axes of one element do not
 * count. */
static int falls(const collet_array_spec *spec, const int64_t *strides, const int32_t *order)
{
    int64_t last = INT64_MAX;
    for (int32_t i = 0; i < spec->ndim; i++) {
        int64_t stride = llabs(strides[order[i]]);
        if (spec->shape[order[i]] <= 1)
            continue;
        if (stride > last)
            return 0;
        last = stride;
    }
    return 1;
}

/* Sorts the axes by their strides, the largest first; axes of one element come before all other axes. */
static void sort_axes(const collet_array_spec *spec, const int64_t *strides, int32_t *order)
{
    int64_t key[COLLET_MAX_DIMS];
    for (int32_t i = 0; i < spec->ndim; i++) {
        int64_t stride = spec->shape[i] <= 1 ? INT64_MAX : llabs(strides[i]);
        int32_t at = i;
        for (; at > 0 && key[at - 1] < stride; at--) {
            key[at] = key[at - 1];
            order[at] = order[at - 1];
        }
        key[at] = stride;
        order[at] = i;
    }
}

int operand_order(const operand *inputs, uint32_t count, const collet_array_spec *spec,
                  int32_t order[COLLET_MAX_DIMS])
{
    int found = 0;
    for (int32_t i = 0; i < spec->ndim; i++)
        order[i] = i;
    for (uint32_t k = 0; k < count && spec->ndim > 1; k++) {
        const int64_t *strides = strides_like(&inputs[k], spec);
        if (!strides)
            continue;
        if (!falls(spec, strides, order)) {
            if (found)
                return 0;
            sort_axes(spec, strides, order);
        } else if (!found) {
            return 0;
        }
        found = 1;
    }
    return found;
}

/* A view of a NumPy array whose axis i is axis place[i] of the array. NULL with an exception. */
static PyObject *numpy_permuted(PyObject *array, const int32_t *place, int32_t ndim)
{
    PyObject *axes = PyTuple_New(ndim), *made = NULL;
    for (int32_t i = 0; axes && i < ndim; i++)
        PyTuple_SetItem(axes, i, PyLong_FromLong(place[i]));
    if (array && axes && !PyErr_Occurred())
        made = PyObject_CallMethod(array, "transpose", "O", axes);
    Py_XDECREF(axes);
    Py_XDECREF(array);
    return made;
}

static int made_on_device(operand *o, collet_context *context, const int64_t *shape,
                          const int32_t *place)
{
    const collet_array_spec *spec = &o->view.spec;
    collet_array *array = NULL, *view = NULL;
    collet_status status = collet_array_create(context, &array, spec->dtype, spec->ndim, shape);
    if (status == COLLET_OK && place) {
        status = collet_array_permute(context, array, &view, place);
        collet_array_destroy(array);
        array = view;
    }
    if (status != COLLET_OK) {
        error_raise(collet_last_status(context), collet_last_error(context));
        return -1;
    }
    o->object = array_new(array);
    o->array = o->object ? array : NULL;
    return o->object ? 0 : -1;
}

int operand_make(operand *o, collet_context *context, int device, const int32_t *order)
{
    const collet_array_spec *spec = &o->view.spec;
    int64_t shape[COLLET_MAX_DIMS];
    int32_t place[COLLET_MAX_DIMS]; /* the position of each axis in memory */
    for (int32_t i = 0; i < spec->ndim; i++) {
        shape[i] = spec->shape[order ? order[i] : i];
        place[order ? order[i] : i] = i;
    }
    if (device)
        return made_on_device(o, context, shape, order ? place : NULL);
    o->host = 1;
    o->object = numpy_empty(spec->dtype, spec->ndim, shape);
    if (o->object && order)
        o->object = numpy_permuted(o->object, place, spec->ndim);
    return o->object ? numpy_view_of(o->object, "the output", &o->view) : -1;
}

collet_status operand_wrap(operand *o, collet_context *context, uint32_t flags)
{
    const collet_array_spec *spec = &o->view.spec;
    collet_status status;
    if (!o->host)
        return COLLET_OK;
    status = collet_array_wrap(context, &o->wrapped, spec->dtype, spec->ndim, spec->shape,
                               o->object ? o->view.strides : NULL, o->view.data, flags, NULL, NULL);
    if (status != COLLET_OK)
        o->wrapped = NULL;
    o->array = o->wrapped;
    return status;
}

collet_status operand_fetch(operand *o, collet_context *context)
{
    void *address;
    collet_status status =
        o->wrapped ? collet_array_acquire(context, o->wrapped, &address, COLLET_READ) : COLLET_OK;
    if (o->wrapped && status == COLLET_OK)
        status = collet_array_release(context, o->wrapped);
    return status;
}

void operand_unwrap(operand *o)
{
    collet_array_destroy(o->wrapped);
    if (o->wrapped)
        o->array = NULL;
    o->wrapped = NULL;
}

void operand_clear(operand *o)
{
    Py_CLEAR(o->object);
}
