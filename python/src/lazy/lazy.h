/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluation of nodes. A node is computed when its value is needed. The evaluation also stores the values of nodes
 * below it that an earlier evaluation computed but did not store. So nothing is computed more than twice. All
 * functions need the GIL. */
#pragma once

#include "src/array/node.h"

/* The Array of a new node; takes the reference to the node. Computes the Array at once if too many nodes are below
 * the node. NULL with an exception. */
PyObject *lazy_array(node *n);

/* Computes the node's value. 0, or -1 with an exception: then the next use of the node computes it again. */
int lazy_force(node *n);
/* lazy_force that also stores the values of all nodes below that have an Array. */
int lazy_force_all(node *n);

/* Computes the nodes that wait to read the memory of a value, and waits for evaluations that read it. 0, or -1 with an
 * exception. */
int lazy_before_write(lazy_value *v);

/* Whether the node or a node below it reads the memory. */
int lazy_reads(const node *n, const memory *m);

/* Computes a node that has no Array into `out`, and takes the caller's reference to the node. Returns `out`;
 * NotImplemented: an operand was computed or written meanwhile, and nothing was computed; NULL with an exception. */
PyObject *lazy_compute_into(node *n, PyObject *out);

/* Computes pending nodes if nodes keep more memory alive than their results will need. Errors are dropped: they occur
 * again when the values are needed. */
void lazy_save_memory(void);

/* 1 in a thread within collet.eager(). */
int lazy_is_off(void);

/* Functions of the module. flush() computes all pending Arrays. eager(change) begins (1) or ends (-1) a block of
 * collet.eager() in the thread. reduce(array, op, axes, keepdims, correction): the reduction of a pending Array, or
 * None if it has to be computed in another way. reduce_rows(array, op, axis, keepdims, correction): a pending
 * Array for the reduction of the last axis; None as before. is_pending(array): whether it is pending. */
PyObject *lazy_flush(PyObject *module, PyObject *unused);
PyObject *lazy_eager(PyObject *module, PyObject *change);
PyObject *lazy_reduce(PyObject *module, PyObject *arguments);
PyObject *lazy_reduce_rows(PyObject *module, PyObject *arguments);
PyObject *lazy_is_pending(PyObject *module, PyObject *array);
