/* SPDX-License-Identifier: Apache-2.0 */
/* The elementwise functions of collet: collet.add. All functions need the GIL. */
#ifndef PYTHON_SRC_LAZY_ELEMENTWISE_H
#define PYTHON_SRC_LAZY_ELEMENTWISE_H

#include "../expression.h"
#include "node.h"

#define ELEMENTWISE_DTYPES 64 /* combinations of the inputs' dtypes that are kept */

struct elementwise {
    PyObject_HEAD PyMethodDef method; /* of the function */
    PyObject *name, *doc;
    PyObject *single;           /* the op, for operands of one dtype */
    expression_object *general; /* for all others */
    PyObject *powers;           /* makes the function of x for an exponent; NULL: it is not pow */
    PyObject *sides; /* of clip: the functions for a lower and an upper limit alone; else NULL */
    uint32_t n_in;
    uint32_t same, floating; /* a bit for each dtype that the op takes; the floating-point ones */
    uint32_t id;             /* of the op; 0: not known yet */
    int lazy;                /* 0: is always computed at once */
    int compares;
    uint64_t generation; /* of the runtime that `id` and `known` are of */
    struct {
        uint16_t key;
        uint16_t dtype;
    } known[ELEMENTWISE_DTYPES];
};

/* Whether it has a fraction. */
int elementwise_is_floating(collet_dtype dtype);

int elementwise_add_type(PyObject *module);

/* The type's object of a function that collet.add is; NULL with an exception. */
elementwise *elementwise_get(PyObject *function);

/* The function of `in`, which may wait; into `out` unless that is NULL or None. */
PyObject *elementwise_apply(elementwise *f, PyObject *const *in, PyObject *out);

/* A node of the function. NULL: with an exception, or without one if it is to be computed at once. */
node *elementwise_wait(elementwise *f, PyObject *const *in);

/* Whether the number is an exponent for which x**n is a product, or a square root. */
int elementwise_is_small_exponent(PyObject *number);

/* The same as elementwise_apply, computed now. */
PyObject *elementwise_call(const elementwise *f, PyObject *const *in, PyObject *out);

/* Functions of the module: elementwise(name, doc, inputs, single, general, dtypes, powers, sides, lazy)
 * makes a function; astype(array, dtype): a conversion that waits. */
PyObject *elementwise_make(PyObject *module, PyObject *arguments);
PyObject *elementwise_convert(PyObject *module, PyObject *arguments);

/* The slots of collet._core.Array for the operators; count of them in *count. */
const PyType_Slot *operators_slots(size_t *count);

#endif
