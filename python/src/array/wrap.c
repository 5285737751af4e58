/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: python/tests/test_array.py */
#include "wrap.h"

#include "array.h"
#include "src/base/dtype.h"
#include "src/base/error.h"
#include "src/base/numpy.h"
#include "src/base/runtime.h"

/* libcore calls this when it no longer uses wrapped memory: drops the reference to the owner. */
static void drop_owner(void *owner)
{
    PyGILState_STATE state;
    if (!Py_IsInitialized())
        return;
    state = PyGILState_Ensure();
    Py_DECREF((PyObject *)owner);
    PyGILState_Release(state);
}

/* An array over the memory of `source`, to which it keeps a reference. */
static collet_array *wrap(PyObject *source, const numpy_view *view, uint32_t flags)
{
    collet_array *array = NULL;
    collet_context *context = runtime_context();
    if (!context)
        return NULL;
    if (collet_array_wrap(context, &array, view->spec.dtype, view->spec.ndim, view->spec.shape,
                          view->strides, view->data,
                          flags | (view->writable ? 0 : COLLET_WRAP_READONLY), drop_owner,
                          source) != COLLET_OK)
        return runtime_raise(context);
    Py_INCREF(source);
    return array;
}

/* Makes an array over a copy of the source; nothing else uses the copy. */
static collet_array *copy_in(PyObject *source, numpy_view *view)
{
    PyObject *copy = numpy_copy(source, &view->spec);
    collet_array *array =
        copy && !numpy_view_of(copy, "the array", view) ? wrap(copy, view, 0) : NULL;
    Py_XDECREF(copy);
    return array;
}

static collet_array *same_view(PyObject *object, collet_dtype dtype, const char *name)
{
    collet_array *view, *a = array_get_written(object);
    collet_context *context = a ? runtime_context() : NULL;
    if (!context)
        return NULL;
    if (dtype && collet_array_dtype(a) != dtype)
        return error_format(COLLET_DTYPE, "%s is %s; it must be %s", name,
                            dtype_name(collet_array_dtype(a)), dtype_name(dtype));
    if (collet_array_broadcast(context, a, &view, collet_array_ndim(a), collet_array_shape(a)) !=
        COLLET_OK)
        return runtime_raise(context);
    return view;
}

collet_array *wrap_elements(PyObject *object, collet_dtype dtype, const char *name)
{
    numpy_view view;
    PyObject *source;
    collet_array *array = NULL;
    if (array_check(object))
        return same_view(object, dtype, name);
    source = numpy_asarray(object, dtype, name);
    if (source && !numpy_view_of(source, name, &view))
        array = view.usable ? wrap(source, &view, 0) : copy_in(source, &view);
    Py_XDECREF(source);
    return array;
}

PyObject *wrap_numpy(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PyObject *source;
    int copy, shared;
    numpy_view view;
    if (!PyArg_ParseTuple(arguments, "Opp", &source, &copy, &shared) ||
        numpy_view_of(source, "the array", &view))
        return NULL;
    if (!copy && !view.usable)
        return error_raise(COLLET_INVALID, "this memory cannot be shared: it is not aligned, has "
                                           "another byte order, or has strides that are not a "
                                           "multiple of its elements");
    return array_new(copy ? copy_in(source, &view)
                          : wrap(source, &view, shared ? COLLET_WRAP_SHARED : 0));
}
