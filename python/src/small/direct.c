/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: python/tests/op/test_small_functions.py */
#include "direct.h"

#include "src/array/array.h"
#include "src/array/capture.h"
#include "src/base/runtime.h"
#include "src/calls/compute.h"

int64_t direct_extent(const direct *d, int32_t from, int32_t to)
{
    int64_t extent = 1;
    for (int32_t i = from; i < to; i++)
        extent *= d->spec.shape[i];
    return extent;
}

static int open_for(PyObject *object, direct *d, int32_t access)
{
    *d = (direct){.array = NULL};
    if (!array_check(object) || call_is_observed())
        return 0;
    collet_array *a = array_get(object);
    if (!a)
        return -1;
    if (collet_array_size(a) > DIRECT_LIMIT || runtime_waits() || !array_is_dense(a, 0))
        return 0;
    if (access == COLLET_WRITE && !array_get_written(object))
        return -1;
    d->array = a;
    array_spec(a, &d->spec);
    d->size = collet_array_size(a);
    d->width = collet_dtype_size(d->spec.dtype);
    d->data = d->size ? collet_array_host_address(a, access) : NULL;
    if (d->data)
        capture_fail();
    return d->data != NULL; /* the general function raises the error, or copies from the device */
}

int direct_open(PyObject *object, direct *d)
{
    return open_for(object, d, COLLET_READ);
}

int direct_open_written(PyObject *object, direct *d)
{
    return open_for(object, d, COLLET_WRITE);
}

int direct_make(direct *d, collet_dtype dtype, int32_t ndim, const int64_t *shape)
{
    collet_context *context = runtime_context();
    *d = (direct){
        .spec = {.dtype = dtype, .ndim = ndim}, .size = 1, .width = collet_dtype_size(dtype)};
    for (int32_t i = 0; i < ndim; i++) {
        if (shape[i] < 0 || shape[i] > DIRECT_LIMIT * DIRECT_PARTS)
            return 0;
        d->spec.shape[i] = shape[i];
        d->size *= shape[i];
        if (d->size > DIRECT_LIMIT * DIRECT_PARTS)
            return 0;
    }
    if (!context)
        return -1;
    if (call_is_observed())
        return 0;
    if (collet_array_create(context, &d->array, dtype, ndim, shape) != COLLET_OK) {
        runtime_raise(context);
        return -1;
    }
    d->made = 1;
    d->data = d->size ? collet_array_host_address(d->array, COLLET_WRITE) : NULL;
    if (d->data || !d->size)
        return 1;
    direct_close(d);
    return 0;
}

void direct_close(direct *d)
{
    if (d->made)
        collet_array_destroy(d->array);
    d->array = NULL;
}

PyObject *direct_finish(direct *d)
{
    collet_array *made = d->array;
    d->array = NULL;
    return array_new(made);
}

PyObject *direct_keyword(PyObject *const *values, PyObject *names, const char *name,
                         Py_ssize_t *known)
{
    Py_ssize_t count = names ? PyTuple_Size(names) : 0;
    for (Py_ssize_t i = 0; i < count; i++)
        if (!PyUnicode_CompareWithASCIIString(PyTuple_GetItem(names, i), name)) {
            ++*known;
            return values[i];
        }
    return NULL;
}

int direct_integer(PyObject *object, int64_t *value)
{
    int overflow;
    if (!PyLong_CheckExact(object))
        return 0;
    *value = PyLong_AsLongLongAndOverflow(object, &overflow);
    return !overflow;
}
