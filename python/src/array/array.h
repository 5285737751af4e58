/* SPDX-License-Identifier: Apache-2.0 */
/* collet.Array: its value and views; collet/_standard/array.py adds methods and repr. */
#pragma once

#include "src/base/python.h"
#include "node.h"

/* Functions of the layers above this layer. */
typedef struct array_upper {
    int (*compute)(node *n); /* 0, or -1 with an exception */
    int (*before_write)(
        lazy_value *v);     /* called before the elements are written. 0, or -1 with an exception */
    void (*released)(void); /* called after an Array was freed */
    PyObject *(*read)(PyObject *array, PyObject *key); /* see src/small/select.h */
    PyObject *(*assign)(PyObject *array, PyObject *key, PyObject *value);
} array_upper;

/* Adds the type Array to the module, with the slots in the tables `others`; each table and `others` end with 0. 0, or
 * -1 with an exception. */
int array_add_type(PyObject *module, const array_upper *evaluation,
                   const PyType_Slot *const *others);

const array_upper *array_functions(void);

/* Adds a method to the type Array. 0, or -1 with an exception. */
int array_add_method(PyMethodDef *method);

int array_check(PyObject *object);

/* The array of an Array; an Array that waits to be computed is computed first. NULL with an exception if the
 * computation fails, if the Array was not initialised, or if it was made before a fork. */
collet_array *array_get(PyObject *object);
/* array_get for a caller that writes the elements next: computes the Arrays that wait to read them, and waits for
 * evaluations that read them. */
collet_array *array_get_written(PyObject *object);

/* Whether nodes wait to read the elements of an Array, or evaluations read them now. The Array must be computed
 * already. */
int array_has_readers(PyObject *object);
/* Computes the nodes that wait to read the Array, and waits for evaluations that read it. 0, or -1 with an
 * exception. */
int array_settle_readers(PyObject *object);
/* To be called before the elements are written, when nothing reads them. */
void array_begin_write(PyObject *object);

/* Dtype and shape, without computing the Array and without a runtime. 0, or -1 with an exception. */
int array_describe(PyObject *object, collet_array_spec *spec);
int64_t array_size_of(const collet_array_spec *spec);

/* array_of_number: a new Array without axes. array_number: whether the Array is such a number, with its value in *number.
 * Such an Array has no memory of libcore until array_value or array_get makes it. */
PyObject *array_of_number(const collet_scalar *number);
int array_number(PyObject *object, collet_scalar *number);

/* Raises ForkedError; returns NULL. */
void *array_raise_forked(void);

/* array_node: the node of an Array that waits, else NULL. array_value: the value of an Array that does not wait; NULL
 * with an exception. */
node *array_node(PyObject *object);
lazy_value *array_value(PyObject *object);
/* The dtype, without computing the Array. 0: the Array was not initialised. */
collet_dtype array_dtype_of(PyObject *object);

/* array_of_value: a new reference to the Array of a value. array_of_node: a new Array of a node that has no Array
 * yet; the Array waits, unless the node has a value. NULL with an exception. */
PyObject *array_of_value(lazy_value *v);
PyObject *array_of_node(node *n);
/* Replaces the node of the Array `owner` by the value. */
void array_settle(PyObject *owner, lazy_value *v);

/* Makes an Array that owns `array`; on failure `array` is freed. NULL with an exception, also if `array` is NULL. */
PyObject *array_new(collet_array *array);

/* Makes an Array that owns `view`, a view of the elements of the Array `self`; on failure `view` is freed. NULL with
 * an exception, also if `view` is NULL. */
PyObject *array_view(PyObject *self, collet_array *view);

/* Whether the elements follow each other without gaps, the last axis fastest or, if `first`, the first axis. */
int array_is_dense(const collet_array *a, int first);

/* Reads extents, or axes: an integer or a sequence of integers, at most COLLET_MAX_DIMS. Their number; -1 with an
 * exception. */
int array_extents(PyObject *extents, int64_t *values);

/* Dtype and shape. */
void array_spec(const collet_array *array, collet_array_spec *spec);

/* Functions of the module. */
PyObject *array_dtype(PyObject *module, PyObject *name);
PyObject *array_dtype_name(PyObject *module, PyObject *dtype);
/* A dict from the letters of dtypes in signatures of ops to NumPy's names of the dtypes. */
PyObject *array_dtype_letters(PyObject *module, PyObject *unused);
PyObject *array_empty(PyObject *module, PyObject *const *arguments, Py_ssize_t given);
