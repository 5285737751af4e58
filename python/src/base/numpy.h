/* SPDX-License-Identifier: Apache-2.0 */
/* Access to NumPy by its Python interface and by __array_struct__. The C struct of __array_struct__ is the same in
 * all versions of NumPy, so the extension works with every version. All functions need the GIL.
 */
#pragma once

#include "python.h"

int numpy_is_array(PyObject *object); /* 1 for an ndarray, 0 for instances of subclasses */

/* The memory of a NumPy array. */
typedef struct numpy_view {
    collet_array_spec spec;
    int64_t strides[COLLET_MAX_DIMS]; /* elements */
    void *data;
    int writable;
    int usable; /* 1: libcore can use the memory without a copy; else only `spec` is set */
} numpy_view;

/* Describes the memory of an array; `name` is used in error messages. 0, or -1 with an exception. */
int numpy_view_of(PyObject *array, const char *name, numpy_view *view);

/* Return new references, or NULL with an exception. numpy_empty returns a new C-contiguous array. numpy_asarray
 * returns array(object) of _host.py, which refuses objects that would lose a part in the conversion. numpy_copy
 * returns a C-contiguous copy in native byte order. */
PyObject *numpy_empty(collet_dtype dtype, int32_t ndim, const int64_t *shape);
PyObject *numpy_asarray(PyObject *object, collet_dtype dtype /* 0: any */, const char *name);
PyObject *numpy_copy(PyObject *array, const collet_array_spec *spec);

/* A new reference to number(object) of _host.py: an array without axes becomes a Python number, other
 * objects stay. NULL with an exception. */
PyObject *numpy_number(PyObject *object, PyObject *name);

/* numpy_dtype: a new reference to the numpy.dtype object of a dtype. numpy_dtype_parse: the dtype of anything that
 * numpy.dtype takes, or of libcore's names ("f32") that are not foreign (dtype.h). */
PyObject *numpy_dtype(collet_dtype dtype);
collet_dtype numpy_dtype_parse(PyObject *object); /* 0 with an exception */

/* A tuple of extents. */
PyObject *numpy_shape(int32_t ndim, const int64_t *shape);
