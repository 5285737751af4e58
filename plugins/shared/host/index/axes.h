/* SPDX-License-Identifier: Apache-2.0 */
/* axes.h - treats some consecutive axes of an operand as one axis; reads the positions of the index family. */
#pragma once

#include "shared/host/util/device.h"
#include "shared/host/util/rows.h"

typedef struct index_axes {
    int32_t ndim;
    int64_t count; /* elements */
    int64_t shape[COLLET_MAX_DIMS];
    int64_t step[COLLET_MAX_DIMS]; /* bytes */
    int flat;                      /* element i is i * each bytes after the first element */
    int64_t each;
} index_axes;

/* `count` axes of `o` from `first` on. */
static inline index_axes index_axes_of(const collet_operand *o, int32_t first, int32_t count)
{
    index_axes x = {.count = 1, .flat = 1};
    for (int32_t i = first; i < first + count; i++) {
        x.count *= o->shape[i];
        if (o->shape[i] == 1)
            continue;
        x.shape[x.ndim] = o->shape[i];
        x.step[x.ndim++] = cpu_step(o, i);
    }
    for (int32_t i = 1; i < x.ndim; i++)
        x.flat &= x.step[i - 1] == x.shape[i] * x.step[i];
    x.each = x.ndim > 0 ? x.step[x.ndim - 1] : 0;
    return x;
}

/* Bytes from the first element to element i in C order. */
static inline int64_t index_at(const index_axes *x, int64_t i)
{
    if (x->flat)
        return i * x->each;
    int64_t offset = 0;
    for (int32_t k = x->ndim - 1; k >= 0; k--) {
        offset += i % x->shape[k] * x->step[k];
        i /= x->shape[k];
    }
    return offset;
}

/* Whether elements along these axes are closer to each other than `step`, so that they should be the inner loop. */
static inline int index_is_inner(const index_axes *x, int64_t step)
{
    int64_t each = x->each < 0 ? -x->each : x->each;
    return x->flat && x->count > 1 && each < (step < 0 ? -step : step);
}

/* The most positions that are read at a time. */
#define INDEX_BLOCK 1024

/* The position of the first index that was found out of range; INT64_MAX: none. Several threads may update it. */
typedef struct index_info {
    int64_t first;
} index_info;

/* Converts n indices of a row (i64 or i32), from index `from` on, to positions 0..extent-1; negative indices count from
 * the end. An index that is out of range becomes -1 and is noted in `info`. `base` is the number of all indices before
 * this row. Returns the positions: `positions`, or the indices themselves if they are positions. */
const int64_t *index_positions(int64_t *positions, const collet_operand *index, const char *row,
                               int64_t base, int64_t from, int64_t n, int64_t extent,
                               index_info *info);

/* Stores 0, or 1 + the position that `info` has noted, in the i64 of `o`. */
void index_store_info(const collet_operand *o, const index_info *info);

/* out[i] = a[positions[i]], i < n; position -1: 0. Steps are in bytes; positions are below `extent`. */
void index_gather(char *out, int64_t out_step, const char *a, int64_t a_step, int64_t extent,
                  uint64_t size, const int64_t *positions, int64_t n);

/* out[positions[i]] = in[i] for all positions in [low, high), in the order of i. */
void index_scatter(char *out, int64_t out_step, const char *in, int64_t in_step, uint64_t size,
                   const int64_t *positions, int64_t n, int64_t low, int64_t high);
