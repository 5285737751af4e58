/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NumPy by its Python interface and the array interface (__array_struct__), whose C struct is the
 * same in all versions: the extension is not compiled for one of NumPy. All functions need the GIL.
 */
#ifndef PYTHON_SRC_BASE_NUMPY_H
#define PYTHON_SRC_BASE_NUMPY_H

#include "python.h"

int numpy_is_array(PyObject *object); /* an ndarray, not of a subclass */

/* Memory of an array. */
typedef struct numpy_view {
    collet_array_spec spec;
    int64_t strides[COLLET_MAX_DIMS]; /* elements */
    void *data;
    int writable;
    int usable; /* 1: libcore can use the memory as it is; else only `spec` is set */
} numpy_view;

/* `name` is for the text of errors. 0, or -1 with an exception. */
int numpy_view_of(PyObject *array, const char *name, numpy_view *view);

/* A new reference to a new C-contiguous array; to array(object) of _host.py, which refuses objects
 * that would lose a part; to a C-contiguous copy in native byte order. NULL with an exception. */
PyObject *numpy_empty(collet_dtype dtype, int32_t ndim, const int64_t *shape);
PyObject *numpy_asarray(PyObject *object, collet_dtype dtype /* 0: any */, const char *name);
PyObject *numpy_copy(PyObject *array, const collet_array_spec *spec);

/* A new reference to number(object) of _host.py: `object`, or the number of Python of an array of
 * one number; NULL with an exception. */
PyObject *numpy_number(PyObject *object, PyObject *name);

/* numpy.dtype's object of a dtype (a new reference), and back: from any argument of numpy.dtype, and from
 * libcore's names, "f32", that are not foreign (dtype.h). */
PyObject *numpy_dtype(collet_dtype dtype);
collet_dtype numpy_dtype_parse(PyObject *object); /* 0 with an exception */

/* A tuple of extents. */
PyObject *numpy_shape(int32_t ndim, const int64_t *shape);

#endif
