/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_sort.h - sorting unsigned keys of 32 or 64 bits in place, by quicksort: vectors are
 * partitioned with permutations, and a sorting network of vectors sorts keys that fit into registers.
 */
#pragma once

#include "shared/host/index/keys.h"

typedef struct sort_width {
    /* `read` computes the keys of n elements of `size` bytes, `step` bytes apart; `write` stores the
     * elements that have the given keys. */
    void (*read)(void *keys, const char *in, int64_t step, uint64_t size, int64_t n,
                 const index_order *order);
    void (*write)(char *out, int64_t step, uint64_t size, const void *keys, int64_t n,
                  const index_order *order);
    /* Sorts n keys. Afterwards, if `order` is not NULL, replaces the keys by the bits of their elements. */
    void (*sort)(void *keys, int64_t n, const index_order *order);
    /* One step of a quicksort of n >= 1 keys. Afterwards no key before cut[0] is greater than a key at or
     * after cut[1]; the keys from cut[0] to cut[1] - 1 are final. Neither outer part has all n keys. */
    void (*divide)(void *keys, int64_t n, const index_order *order, int64_t cut[2]);
    /* Partitions: key kth gets its value in sorted order, no key before it is greater, and no key after it is
     * less. */
    void (*select)(void *keys, int64_t n, int64_t kth);
} sort_width;

typedef struct sort_kernels {
    sort_width width[2]; /* keys of u32, of u64 */
} sort_kernels;
