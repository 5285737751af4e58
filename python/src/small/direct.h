/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that compute with the elements of small Arrays here, in the host's memory, because a call of an op and the
 * Python code around it would take longer than the loops. The functions only move elements, count elements, or add
 * them in the same order as the general functions. Each is a function of the module that returns None for all other
 * arguments; the caller then uses the general function, which raises the errors.
 */
#pragma once

#include "src/base/python.h"

#define DIRECT_LIMIT (1 << 15) /* elements: loops over them take at most some ten microseconds */
#define DIRECT_PARTS 16        /* operands */

/* The elements of an Array in C order without gaps. */
typedef struct direct {
    collet_array *array;
    char *data;
    collet_array_spec spec;
    int64_t size;
    size_t width; /* bytes of an element */
    int made;     /* by direct_make */
} direct;

/* Opens an Array for reading, or writing. 1: the Array is open. 0: `object` is not an Array, is too large, is on a
 * device, or has other strides; or calls are observed. -1 with an exception. */
int direct_open(PyObject *object, direct *d);
int direct_open_written(PyObject *object, direct *d);
/* Makes an array for a result, of at most DIRECT_LIMIT * DIRECT_PARTS elements. Returns as direct_open. */
int direct_make(direct *d, collet_dtype dtype, int32_t ndim, const int64_t *shape);
/* Closes the Array. A result that direct_finish did not take is freed. */
void direct_close(direct *d);
/* Returns the Array of a result and closes it. NULL with an exception. */
PyObject *direct_finish(direct *d);

/* The product of the extents of axes [from, to). */
int64_t direct_extent(const direct *d, int32_t from, int32_t to);

/* The value of a keyword, or NULL. `values`: the values of the keywords `names`. Adds 1 to *known if the keyword is
 * among them. */
PyObject *direct_keyword(PyObject *const *values, PyObject *names, const char *name,
                         Py_ssize_t *known);

/* An int of Python, exactly; 0: the object is not an int, or does not fit. */
int direct_integer(PyObject *object, int64_t *value);
