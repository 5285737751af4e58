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

/* Rows to be sorted by digits: radix.dev. `at` is the first byte of the counts in the workspace. */
typedef struct index_radix {
    radix_pass pass;
    int64_t rows, bytes; /* of the counts */
    char options[64];
} index_radix;

/* Sets all but the pass's order, walk, steps, row and digit. `word` and `index` are sizes of keys and of indices,
 * which `carry` moves too. */
void index_radix_of(index_radix *r, const jit_traits *t, int64_t rows, int64_t n, uint64_t word,
                    uint64_t index, int carry, int64_t at);
/* A pass; out and in may be NULL. */
void index_radix_pass(jit_sequence *s, const index_radix *r, const collet_operand *out,
                      const collet_operand *in);

/*
 * Stable sorting of n pairs: u64 keys that have `bits` bits from word `at` of the workspace on, then as many
 * u64 indices, which become 0 .. n - 1 in the order of the keys. Returns the word at which the result begins, `at` or
 * 2 n words behind it: the workspace has index_pair_bytes from `at` on.
 */
int64_t index_sort_pairs(jit_sequence *s, int64_t at, int64_t n, int32_t bits);
uint64_t index_pair_bytes(const jit_traits *t, int64_t n);

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
