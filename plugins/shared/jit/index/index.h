/* SPDX-License-Identifier: Apache-2.0 */
/* index.h - what the kernels of the family index share. */
#ifndef PLUGINS_SHARED_JIT_INDEX_INDEX_H
#define PLUGINS_SHARED_JIT_INDEX_INDEX_H

#include "shared/jit/array/axes.h"
#include "shared/jit/runtime/view.h"

#include "index_params.h"

/* Makes a walk along `count` axes, with the strides of the first `operands` operands. sorted: the axes may come in
 * any order, so the one along which operand 0 has the smallest stride is the last. */
void index_walk_of(index_walk *w, jit_axis *axes, int32_t count, uint32_t operands, int sorted);

/* The walk over all elements of an operand, in C order. */
void index_walk_over(index_walk *w, const collet_operand *o);

/*
 * Stable sorting of `rows` rows of n pairs: u64 keys from word `at` of the workspace on, then as many i64
 * indices. Returns the word at which the result begins, `at` or 2 rows n words behind it: the workspace
 * has 4 rows n words.
 */
int64_t index_sort_pairs(jit_sequence *s, int64_t at, int64_t rows, int64_t n);

/* The stride of the last axis. */
static inline int64_t index_step(const collet_operand *o)
{
    return o->strides[o->ndim - 1];
}

/* Whether output 0 is the input: exactly the same view. */
static inline int index_in_place(const collet_operand *out, const collet_operand *in)
{
    return out->buffer == in->buffer && out->byte_offset == in->byte_offset;
}

/* out = a, unless they are the same view. */
void index_copy(jit_sequence *s, const collet_operand *out, const collet_operand *a);

#endif
