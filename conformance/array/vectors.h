/* SPDX-License-Identifier: Apache-2.0 */
/* vectors.h - the stored arguments and values of elementwise functions, which conformance/vectors/make.py computed. */
#pragma once

#include "kit.h"

/* The number of stored rows of a function. Counts only rows whose arguments this dtype can represent. */
int64_t vectors_count(uint32_t op, collet_dtype dtype);

/* Fills the inputs of a case, which has vectors_count elements for the dtype of its last input. */
void vectors_inputs(kit_case *c);

/* The parts of all outputs, row by row; the caller frees them with free(). *exact: the values are exact; otherwise they
 * have 75 correct bits, or as many as a long double has. */
long double *vectors_outputs(const kit_case *c, bool *exact);

/* The parts of the arguments and of the value in row `row` of a function and dtype. `exact`: searches the exact
 * values; else the others. False beyond the last row. For tests. */
bool vectors_row(uint32_t op, collet_dtype dtype, bool exact, int64_t row, long double x[6],
                 long double y[2]);
