/* SPDX-License-Identifier: Apache-2.0 */
/* An elementwise function and its computation at once. All functions need the GIL. */
#ifndef PYTHON_SRC_LAZY_FUNCTION_H
#define PYTHON_SRC_LAZY_FUNCTION_H

#include "src/array/node.h"
#include "src/calls/expression.h"

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
int function_is_floating(collet_dtype dtype);

/* Whether the number is an exponent for which x**n is a product, or a square root. */
int function_is_small_exponent(PyObject *number);

/* The function of `in`, by its op or its expression; into `out` unless that is NULL or None. `reads`: of a
 * lazy evaluation, or NULL; NotImplemented: it does not hold any more. */
PyObject *function_call(const elementwise *f, PyObject *const *in, PyObject *out,
                        const snapshot *reads);

#endif
