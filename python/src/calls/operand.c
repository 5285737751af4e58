/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: python/tests/test_op.py, python/tests/test_lossy_input.py */
#include "operand.h"

#include <string.h>

#include "src/array/array.h"
#include "src/base/error.h"

void operand_start(operand *o)
{
    o->array = o->wrapped = NULL;
    o->object = NULL;
    o->host = o->absent = 0;
}

/* `array`: of the object; NULL with an exception. */
static int take_array(operand *o, PyObject *object, collet_array *array)
{
    o->array = array;
    if (!array)
        return -1;
    o->object = Py_NewRef(object);
    array_spec(o->array, &o->view.spec);
    return 0;
}

/* Stores a Python number in o->number; 0: NumPy must convert it. */
static int take_number(operand *o, PyObject *object, const char *name, collet_dtype dtype)
{
    double value;
    if (PyFloat_CheckExact(object))
        value = PyFloat_AsDouble(object);
    else if (PyLong_CheckExact(object))
        value = PyLong_AsDouble(object);
    else
        return 0;
    if (value == -1 && PyErr_Occurred())
        return error_too_large(name);
    if (dtype == COLLET_F64)
        memcpy(o->number, &value, sizeof value);
    else if (dtype == COLLET_F32)
        memcpy(o->number, &(float){(float)value}, sizeof(float));
    else if (dtype == COLLET_C128)
        memcpy(o->number, &(collet_c128){value, 0}, sizeof(collet_c128));
    else if (dtype == COLLET_C64)
        memcpy(o->number, &(collet_c64){(float)value, 0}, sizeof(collet_c64));
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
        return take_array(o, object, array_get_written(object));
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

int operand_make(operand *o, collet_context *context, int device)
{
    const collet_array_spec *spec = &o->view.spec;
    collet_array *array;
    if (!device) {
        o->host = 1;
        o->object = numpy_empty(spec->dtype, spec->ndim, spec->shape);
        return o->object ? numpy_view_of(o->object, "the output", &o->view) : -1;
    }
    if (collet_array_create(context, &array, spec->dtype, spec->ndim, spec->shape) != COLLET_OK) {
        error_raise(collet_last_status(context), collet_last_error(context));
        return -1;
    }
    o->object = array_new(array);
    o->array = o->object ? array : NULL;
    return o->object ? 0 : -1;
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
