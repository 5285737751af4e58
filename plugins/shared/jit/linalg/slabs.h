/* SPDX-License-Identifier: Apache-2.0 */
/* slabs.h - the launches of a decomposition. Each matrix of a batch has a slab, a part of the workspace with numbers
 * of the device's widest type; they are real or complex, like the operands (dense.dev). */
#pragma once

#include "matrices.h"
#include "shared/jit/language/formulas.h"
#include "slabs_params.h"

/* Every source of a decomposition begins with SLAB_TEXTS, or with SLAB_NUMBER_TEXTS if its kernels use no operands. */
#define SLAB_TEXTS jit_text_linalg_matrices_params, jit_text_linalg_matrices, SLAB_NUMBER_TEXTS
#define SLAB_NUMBER_TEXTS                                                                          \
    jit_text_linalg_slabs_params, "#ifdef COMPLEX\n", JIT_COMPLEX_TEXTS, "#endif\n",               \
        jit_text_linalg_dense

typedef struct jit_slabs {
    jit_sequence s;
    const jit_source *source;
    const char *options, *inside; /* compiler options of jit_slabs_launch and of jit_slabs_inside */
    int complex;                  /* whether the numbers are complex */
    int64_t m, n, count;          /* there are `count` matrices of m x n */
    int64_t pitch;                /* numbers per slab; -1: overflow */
    jit_batch batch;
} jit_slabs;

/* Begins slabs for the matrices of operand `input`; their numbers are complex if the operand is. The pitch is
 * SLAB_HEAD at first, and no operands are set. */
jit_slabs jit_slabs_begin(collet_device *device, collet_queue *queue,
                          const collet_kernel_call *call, const jit_source *source, uint32_t input);

/* Compiler options of kernels that read or write operands of the dtype: the operands' type and the type of a slab's
 * numbers. */
const char *jit_slabs_options(collet_dtype dtype, int has_f64);

/* Makes the numbers complex even if the operand is real. */
void jit_slabs_widen(jit_slabs *d, collet_dtype dtype);

/* sum + a * b; -1 on overflow or if sum is -1. */
int64_t jit_slabs_plus(int64_t sum, int64_t a, int64_t b);

/* Sets operands 0 .. count - 1, which have the batch's axes. */
void jit_slabs_operands(jit_slabs *d, uint32_t count);

/* Bytes of workspace; UINT64_MAX on overflow. */
uint64_t jit_slabs_bytes(const jit_slabs *d);

/* Begins the launch of a kernel that copies between slabs and operands; it is compiled for the operands' type. */
void jit_slabs_launch(const jit_slabs *d, jit_launch *l, const char *kernel);
/* Begins the launch of a kernel that works on slabs only, and passes the workspace and the pitch to it. */
void jit_slabs_inside(const jit_slabs *d, jit_launch *l, const jit_source *source,
                      const char *kernel);
/* Passes the workspace and the pitch. */
void jit_slabs_pass(const jit_slabs *d, jit_launch *l);
/* Passes the batch, and enqueues the launch on one group per matrix. */
void jit_slabs_each(jit_slabs *d, jit_launch *l);
