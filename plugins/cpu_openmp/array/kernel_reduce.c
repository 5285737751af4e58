/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/array/reduce.c */
#include "kernel_reduce.h"

#include <string.h>

#include "cpu_openmp/util/kernel_level.h"

/* Terms that are summed as a tree before their sum is added with its error: so few roundings are
 * harmless. */
#define TREE 8

/* D. E. Knuth's exact sum of two numbers (TAOCP 2, 4.2.2), which needs no comparison. */
INLINE void add(double *sum, double *lost, double x)
{
    double before = *sum, after = before + x;
    double part = after - before;
    *lost += (before - (after - part)) + (x - part);
    *sum = after;
}

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

#define REAL float
#define NAME(x) x##_f32
#include "kernel_reduce.inc"

#define REAL double
#define NAME(x) x##_f64
#include "kernel_reduce.inc"

/*
 * The smaller of a and b. Where they are equal, or one is NaN, x is b and y is a: the bits of both
 * together are then that number, -0 if one of two zeros is, and a NaN.
 */
INLINE float less_f32(float a, float b)
{
    float x = a < b ? a : b, y = b < a ? b : a;
    uint32_t p, q;
    memcpy(&p, &x, sizeof p);
    memcpy(&q, &y, sizeof q);
    p |= q;
    memcpy(&x, &p, sizeof x);
    return x;
}

INLINE double less_f64(double a, double b)
{
    double x = a < b ? a : b, y = b < a ? b : a;
    uint64_t p, q;
    memcpy(&p, &x, sizeof p);
    memcpy(&q, &y, sizeof q);
    p |= q;
    memcpy(&x, &p, sizeof x);
    return x;
}

/* max(x) = -min(-x). */
#define REAL float
#define LESS_OF less_f32
#define SIGN
#define NAME(x) x##_min_f32
#include "kernel_extreme.inc"

#define REAL double
#define LESS_OF less_f64
#define SIGN
#define NAME(x) x##_min_f64
#include "kernel_extreme.inc"

#define REAL float
#define LESS_OF less_f32
#define SIGN -
#define NAME(x) x##_max_f32
#include "kernel_extreme.inc"

#define REAL double
#define LESS_OF less_f64
#define SIGN -
#define NAME(x) x##_max_f64
#include "kernel_extreme.inc"

extern const reduce_kernels LEVEL_NAME(reduce);
const reduce_kernels LEVEL_NAME(reduce) = {
    .sum = {{run_f32, run_f64}, {columns_f32, columns_f64}},
    .min = {{run_min_f32, run_min_f64}, {columns_min_f32, columns_min_f64}},
    .max = {{run_max_f32, run_max_f64}, {columns_max_f32, columns_max_f64}},
};
