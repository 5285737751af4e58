/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matrices.h - batches of matrices and vectors in any strides, as kernels walk them.
 */
#ifndef COLLET_JIT_LINALG_MATRICES_H
#define COLLET_JIT_LINALG_MATRICES_H

#include "shared/jit/runtime/view.h"

#include "matrices_params.h"

/* Begins a batch of the first `axes` axes of `o`'s shape; returns how many items it has. */
int64_t jit_batch_begin(jit_batch *v, const collet_operand *o, int32_t axes);

/* Sets operand k, whose first axes are the batch's; it has 0, 1 (column) or 2 axes behind them. */
void jit_batch_operand(jit_batch *v, uint32_t k, const collet_operand *o);

/* A matrix whose rows, or else columns (`transposed`), are runs of memory, as BLAS has them. */
typedef struct jit_layout {
    int transposed;
    int64_t leading; /* from one run to the next, at least its length */
    int64_t step;    /* from one of the batch to the next */
} jit_layout;

/* Operand k's rows x columns as such; 0 when neither are, or the batch's axes have no one step. */
int jit_batch_layout(jit_layout *l, const jit_batch *v, uint32_t k, int64_t rows, int64_t columns);

#endif
