/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_sort.h - sorting unsigned keys of 32 or 64 bits in place, by quicksort: vectors are
 * partitioned with permutations, and a sorting network of vectors sorts what fits into registers.
 */
#ifndef PLUGINS_CPU_OPENMP_INDEX_KERNEL_SORT_H
#define PLUGINS_CPU_OPENMP_INDEX_KERNEL_SORT_H

#include "shared/host/index/keys.h"

typedef struct sort_width {
    /* The keys of n elements of `size` bytes, `step` bytes apart; the elements that have n keys. */
    void (*read)(void *keys, const char *in, int64_t step, uint64_t size, int64_t n,
                 const index_order *order);
    void (*write)(char *out, int64_t step, uint64_t size, const void *keys, int64_t n,
                  const index_order *order);
    /* Sorts n keys; with `order` they then become the bits of elements. */
    void (*sort)(void *keys, int64_t n, const index_order *order);
    /* One step of a sort of n >= 1 keys. No key before cut[0] is greater than one from cut[1] on; the keys
     * between cut[0] and cut[1] have their final values. Neither of the two outer parts has all keys. */
    void (*divide)(void *keys, int64_t n, const index_order *order, int64_t cut[2]);
    /* Key kth gets the value that it has when sorted, with none greater before and none less behind. */
    void (*select)(void *keys, int64_t n, int64_t kth);
} sort_width;

typedef struct sort_kernels {
    sort_width width[2]; /* keys of u32, of u64 */
} sort_kernels;

#endif
