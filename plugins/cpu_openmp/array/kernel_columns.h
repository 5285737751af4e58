/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_columns.h - prefetching in reductions by columns. */
#ifndef PLUGINS_CPU_OPENMP_ARRAY_KERNEL_COLUMNS_H
#define PLUGINS_CPU_OPENMP_ARRAY_KERNEL_COLUMNS_H

#include "cpu_openmp/util/kernel_level.h"

/* Elements that are joined as a tree before their result joins another. A sum adds the tree's sum with its error:
 * so few roundings are harmless. */
#define TREE 8

/* Columns that are reduced at a time while rows below them are prefetched. */
#define STRIP 32

/* The next address to prefetch. */
typedef struct ahead {
    const char *row;
    int64_t column;
} ahead;

/*
 * The next TREE strips of the rows below, into the L2 cache: row after row in memory's order,
 * which is faster than several rows at once. The hardware prefetcher does not follow this order.
 * Not where columns are further apart than cache lines: most of each line would be wasted.
 */
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

#endif
