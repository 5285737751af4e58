/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_columns.h - prefetching in reductions by columns. */
#pragma once

#include "cpu_openmp/util/kernel_level.h"

/* Elements of a column that are combined as a tree before they are combined with the result so far. Only the
 * addition of the tree's sum is compensated: the few roundings within a tree are harmless. */
#define TREE 8

/* The number of columns that are reduced at a time while rows below them are prefetched. */
#define STRIP 32

/* The next address to prefetch. */
typedef struct ahead {
    const char *row;
    int64_t column;
} ahead;

/* Prefetches the next TREE strips of the rows below into the L2 cache, row after row in memory's order. This is
 * faster than several rows at once. The hardware prefetcher does not follow the order in which strips are read.
 * Does nothing if columns are more than a cache line apart: most of each line would be wasted. */
INLINE void prefetch_next(ahead *next, int64_t row_step, int64_t column_step, int64_t columns)
{
    for (int i = 0; i < TREE && column_step <= 64; i++) {
        if (next->column + STRIP > columns) {
            next->column = 0;
            next->row += row_step;
        }
        const char *in = next->row + next->column * column_step;
        for (int64_t j = 0; j < STRIP * column_step; j += 64)
            __builtin_prefetch(in + j, 0, 2);
        next->column += STRIP;
    }
}
