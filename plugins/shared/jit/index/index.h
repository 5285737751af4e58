/* SPDX-License-Identifier: Apache-2.0 */
/* index.h - functions that the kernels of the family index share. */
#pragma once

#include "shared/jit/array/axes.h"
#include "shared/jit/runtime/view.h"

#include "index_params.h"

/* Makes a walk along `count` axes, with the strides of the first `operands` operands. sorted: the order of the axes
 * does not matter, so the axis along which operand 0 has the smallest stride becomes the last. */
void index_walk_of(index_walk *w, jit_axis *axes, int32_t count, uint32_t operands, int sorted);

/* The walk over all elements of an operand, in C order. */
void index_walk_over(index_walk *w, const collet_operand *o);

/* A radix sort of rows: radix.dev. */
typedef struct index_radix {
    radix_pass pass;
    int64_t rows, bytes; /* rows and bytes of the counts */
    char options[64];
} index_radix;

/* Sets all members except the order, walk, steps, row and digit of the pass. `word` and `index`:
 * the sizes of keys and of indices in bytes; carry: indices are moved too; at: the first byte of
 * the totals and counts in the workspace. */
void index_radix_of(index_radix *r, const jit_traits *t, int64_t rows, int64_t n, uint64_t word,
                    uint64_t index, int carry, int64_t at);
/* Enqueues a pass; `out` and `in` may be NULL. */
void index_radix_pass(jit_sequence *s, const index_radix *r, const collet_operand *out,
                      const collet_operand *in);

/* Sorts n pairs, stably. From word `at` of the workspace on there are n u64 keys of `bits` bits, followed by n u64
 * indices, which are 0 .. n - 1; keys and indices are sorted by the keys. Returns the word at which the result
 * begins: `at` or at + 2 n. The workspace must have index_pair_bytes bytes from `at` on. */
int64_t index_sort_pairs(jit_sequence *s, int64_t at, int64_t n, int32_t bits);
uint64_t index_pair_bytes(const jit_traits *t, int64_t n);

/* The stride of the last axis. */
static inline int64_t index_step(const collet_operand *o)
{
    return o->strides[o->ndim - 1];
}

/* Whether the output and the input are the same view. */
static inline int index_in_place(const collet_operand *out, const collet_operand *in)
{
    return out->buffer == in->buffer && out->byte_offset == in->byte_offset;
}

/* out = a, unless they are the same view. */
void index_copy(jit_sequence *s, const collet_operand *out, const collet_operand *a);
