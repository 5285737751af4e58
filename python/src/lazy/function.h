/* SPDX-License-Identifier: Apache-2.0 */
/* An elementwise function, and calls that are computed at once. All functions need the GIL. */
#pragma once

#include "src/array/node.h"
#include "src/calls/expression.h"

#define ELEMENTWISE_DTYPES 64 /* entries of `known` */

struct elementwise {
    PyObject_HEAD PyMethodDef method; /* the definition of the Python function */
    PyObject *name, *doc;
    PyObject *single;           /* the op, for operands of one dtype */
    expression_object *general; /* for operands of different dtypes */
    PyObject *powers;           /* for pow: makes the function x**n for a number n; else NULL */
    PyObject *sides; /* for clip: the functions with only a lower, only an upper and no limit; else NULL */
    uint32_t n_in;
    uint32_t same, floating; /* a bit for each dtype that the op takes, and for each that is floating */
    uint32_t condition;      /* 1: the first input is a condition, which `same` does not describe */
    uint32_t id;             /* the number of the op; 0: not known yet */
    int lazy;                /* 0: always computed at once */
    int compares;            /* 1: a comparison */
    int finite;              /* 1: isfinite; 0: isnan or isinf; -1: another function */
    uint64_t generation; /* the generation of the runtime to which `id` belongs */
    struct {
        uint16_t key;
        uint16_t dtype;
    } known[ELEMENTWISE_DTYPES]; /* a hash table from the inputs' dtypes to the dtype of the result */
};

/* Whether numbers of the dtype can have a fraction: real or complex floating-point numbers. */
int function_is_floating(collet_dtype dtype);

/* Whether x**n is computed by products and a square root for this number n. */
int function_is_small_exponent(PyObject *number);

/* Computes the function of `in` at once, by its op or its expression; into `out` unless that is NULL or None. `reads`:
 * the snapshot of a lazy evaluation, or NULL. NotImplemented: memory of `reads` was written since the snapshot. */
PyObject *function_call(const elementwise *f, PyObject *const *in, PyObject *out,
                        const snapshot *reads);
