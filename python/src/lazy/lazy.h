/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Evaluation of nodes. A value is computed when it is needed. What else depends on it is computed too
 * if it was computed before without being kept: so nothing is computed more than twice.
 * All functions need the GIL.
 */
#ifndef PYTHON_SRC_LAZY_LAZY_H
#define PYTHON_SRC_LAZY_LAZY_H

#include "src/array/node.h"

/* Computes the node's value. 0, or -1 with an exception: then it is computed when it is needed again. */
int lazy_force(node *n);

/* Evaluates what waits to read the memory of a value, and waits for evaluations that read it. 0, or -1 with an
 * exception. */
int lazy_before_write(lazy_value *v);

/* Whether nodes below `n` read the memory. */
int lazy_reads(const node *n, const memory *m);

/* Computes a node that has no Array into `out`. Takes the caller's reference. An Array; NotImplemented: an
 * operand was computed or written meanwhile, nothing was done; NULL with an exception. */
PyObject *lazy_compute_into(node *n, PyObject *out);

/* Evaluates what waits if nodes keep more memory than their results need. Exceptions are dropped: the
 * values are computed when they are needed. */
void lazy_save_memory(void);

/* 1 in a thread within collet.eager(). */
int lazy_is_off(void);

/* Functions of the module: flush() evaluates everything that waits; eager(change) begins (1) or ends (-1)
 * a part of the thread that is not lazy; reduce(array, op, axes, keepdims, correction): the reduction of an
 * Array that waits, or None; is_pending(array). */
PyObject *lazy_flush(PyObject *module, PyObject *unused);
PyObject *lazy_eager(PyObject *module, PyObject *change);
PyObject *lazy_reduce(PyObject *module, PyObject *arguments);
PyObject *lazy_is_pending(PyObject *module, PyObject *array);

#endif
