/* SPDX-License-Identifier: Apache-2.0 */
/* Batches of matrices and vectors with any strides, as kernels traverse them. */
#ifndef COLLET_JIT_LINALG_MATRICES_PARAMS_H
#define COLLET_JIT_LINALG_MATRICES_PARAMS_H

#define BATCH_OPERANDS 5

/* Strides in elements; 0 along a broadcast axis. */
typedef struct jit_batch {
    i64 extent[VIEW_DIMS];
    i64 stride[BATCH_OPERANDS][VIEW_DIMS];
    i64 row[BATCH_OPERANDS];    /* stride of the last axis but one */
    i64 column[BATCH_OPERANDS]; /* stride of the last axis */
    i64 axes;
} jit_batch;

#endif
