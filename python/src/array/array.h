/* SPDX-License-Identifier: Apache-2.0 */
/* collet.Array: its value and views; collet/_standard/array.py adds indexing, methods and repr. */
#ifndef PYTHON_SRC_ARRAY_ARRAY_H
#define PYTHON_SRC_ARRAY_ARRAY_H

#include "src/base/python.h"
#include "node.h"

/* Lazy evaluation, which is built on Arrays. */
typedef struct array_lazy {
    int (*compute)(node *n);            /* 0, or -1 with an exception */
    int (*before_write)(lazy_value *v); /* the elements are written next; the same */
    void (*released)(void);             /* an Array was freed */
} array_lazy;

/* Adds the type Array, with the operators in `count` slots, to the module. 0, or -1 with an exception. */
int array_add_type(PyObject *module, const array_lazy *evaluation, const PyType_Slot *operators,
                   size_t count);

/* Adds a method to that type. 0, or -1 with an exception. */
int array_add_method(PyMethodDef *method);

int array_check(PyObject *object);

/* The array of an Array, which is computed first if it waits; NULL with an exception if that fails, there is
 * none, or it is of a parent of fork. */
collet_array *array_get(PyObject *object);
/* The same, for a caller that writes the elements next: what waits to read them is computed, and evaluations
 * that read them are awaited. */
collet_array *array_get_written(PyObject *object);

/* Whether an Array that is computed has elements that something waits to read, or reads now. */
int array_has_readers(PyObject *object);
/* Computes what waits, and waits for what reads. 0, or -1 with an exception. */
int array_settle_readers(PyObject *object);
/* The elements are written next; nothing reads them. */
void array_begin_write(PyObject *object);

/* Raises ForkedError; returns NULL. */
void *array_raise_forked(void);

/* The node of an Array that waits, else NULL. The value of an Array that does not wait; NULL with an exception. */
node *array_node(PyObject *object);
lazy_value *array_value(PyObject *object);
/* Known without computing; 0: the Array was not initialised. */
collet_dtype array_dtype_of(PyObject *object);

/* A new reference to the Array of a value; a new Array of the node, which has none yet: it waits, unless the
 * node has a value. NULL with an exception. */
PyObject *array_of_value(lazy_value *v);
PyObject *array_of_node(node *n);
/* The Array of a node gets the value in its place. */
void array_settle(PyObject *owner, lazy_value *v);

/* An Array that owns `array`, which is freed on failure. NULL with an exception; also for NULL. */
PyObject *array_new(collet_array *array);

/* An Array over elements of the Array `self` that owns `view`, which is freed on failure. NULL with an exception;
 * also for NULL. */
PyObject *array_view(PyObject *self, collet_array *view);

/* Dtype and shape. */
void array_spec(const collet_array *array, collet_array_spec *spec);

/* Functions of the module. */
PyObject *array_set_class(PyObject *module, PyObject *type);
PyObject *array_dtype(PyObject *module, PyObject *name);
PyObject *array_dtype_name(PyObject *module, PyObject *dtype);
/* The letters of dtypes in signatures of ops, with NumPy's names, as a dict. */
PyObject *array_dtype_letters(PyObject *module, PyObject *unused);
PyObject *array_empty(PyObject *module, PyObject *arguments);

#endif
