/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions, products and norms of small f32 and f64 Arrays in the host's memory, without the steps of a general
 * call for keywords, conversions and devices: with these steps a call takes four times as long. */
#pragma once

#include "op.h"

/* Functions of the module. Each makes a Python function that computes small arrays, and returns
 * None if the arguments need a general call. small_reduction: f(x, axis, keepdims=, correction=),
 * from the function of a reducing op that keeps the dtype. small_product: f(a, b), from the
 * functions of dot, matvec and matmul. small_sort: f(x), from the function of sort or argsort.
 * small_norm: f(x), from the function of dot. */
PyObject *small_reduction(PyObject *module, PyObject *function);
PyObject *small_product(PyObject *module, PyObject *functions);
PyObject *small_sort(PyObject *module, PyObject *function);
PyObject *small_norm(PyObject *module, PyObject *dot);

/* The elements of an Array in ascending order along the last axis by the op sort, or their indices by argsort. A new reference;
 * None: use the general call; NULL with an exception. */
PyObject *small_order(op_object *op, PyObject *object);
