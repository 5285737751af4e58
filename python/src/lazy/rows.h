/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs with reductions among their steps: x - mean(x), softmax. A reduction is along the last axis, which it keeps
 * with extent 1. The program is computed for a group of rows at a time. Values that later steps need stay in the cache
 * meanwhile, and nothing is computed twice. A row has the same bits as in a program of all rows.
 *
 * The steps are cut into stages. The steps of a stage have one shape: full, or one element per row. They depend only on
 * stages before it: on reductions, and on values of the other shape. Each stage is an Expression.
 */
#pragma once

#include "step.h"

/* If there are few rows, rows shorter than this are reduced in another order. */
#define ROWS_SHORTEST 32
#define ROWS_LONGEST (1 << 15)
/* The number of elements from which on computing by rows saves time. Smaller Arrays fit into the cache as a whole,
 * and calls/small.c reduces them. */
#define ROWS_LEAST (128 << 10)

/* Cuts the program into stages. A PyCapsule, or NULL with an exception. */
PyObject *rows_plan(const program *p);

/* Computes the outputs of a program that has the same steps. Returns as program_run. */
PyObject *rows_run(PyObject *plan, const program *p);
