/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of ops on small Arrays that are replayed by one call of libcore. */
#pragma once

#include "src/base/python.h"

/* Function of the module: recording(inputs, steps, results). Makes the function of a list of calls.
 *
 * inputs: (dtype, shape, kind) for each argument; kind 0: an Array, 1: an Array without gaps in C order, 2: a real
 * number, which takes the dtype.
 * steps: (what, operands, extra, dtype, shape). Each step makes a new value; its dtype and shape are checked. If `what`
 * is the function of an op, `extra` is a dict of its parameters. If `what` is COLLET_VIEW_*, `extra` has the numbers of
 * the view. An operand is an Array, a constant, or the number of a value: the inputs come first, then the steps.
 * results: the numbers of the values that the function returns as a tuple of new Arrays.
 *
 * The function returns None, and computes nothing, if it cannot compute these arguments at once: the caller then makes the
 * calls one by one. It keeps the GIL, so the calls must take at most some hundred microseconds. */
PyObject *recording_make(PyObject *module, PyObject *arguments);

/* An array without axes that holds the real number. NULL: *failed is -1 if an exception is set, or 0 if the dtype may be
 * unable to hold the number. */
collet_array *recording_number(collet_context *context, PyObject *number, collet_dtype dtype,
                               int *failed);

/* A tuple of Arrays that own the arrays; on failure the arrays are freed. NULL with an exception. */
PyObject *recording_results(collet_array **outs, uint32_t count);
