/* SPDX-License-Identifier: Apache-2.0 */
/* matrices.h - batches of matrices and vectors with any strides, as kernels traverse them. */
#pragma once

#include "shared/jit/runtime/view.h"

#include "matrices_params.h"

/* Begins a batch of the first `axes` axes of `o`'s shape; returns the number of items in it. */
int64_t jit_batch_begin(jit_batch *v, const collet_operand *o, int32_t axes);

/* Sets operand k, whose first axes are the axes of the batch, followed by 0, 1 (column) or 2 axes. */
void jit_batch_operand(jit_batch *v, uint32_t k, const collet_operand *o);

/* A matrix in a form that BLAS accepts: its rows are contiguous, or its columns are (`transposed`). */
typedef struct jit_layout {
    int transposed;
    int64_t leading; /* leading dimension */
    int64_t step;    /* batch stride */
} jit_layout;

/* Describes operand k, rows x columns, as a jit_layout. Returns 0 if neither its rows nor its columns are
 * contiguous, or if the batch has no single stride. */
int jit_batch_layout(jit_layout *l, const jit_batch *v, uint32_t k, int64_t rows, int64_t columns);
