/* SPDX-License-Identifier: Apache-2.0 */
/* reduce_plan.h - how the elements of a reduction are divided into tiles of columns and into chunks. */
#pragma once

#include "shared/host/util/counts.h"
#include "shared/host/util/rows.h"
#include "reduction.h"
#include "reduce_source.h"

/* Minimum number of elements per thread. */
#define REDUCE_GRAIN (32 << 10)

/* The most columns of a wide row, which consists of several narrow rows. */
#define REDUCE_FOLD 1024

/* The two parts of a complex number are a further axis. */
#define AXES_MAX (COLLET_MAX_DIMS + 1)

/* The results of a chunk that has its own mean: a sum of squares, its rounding error, the mean, the count. */
enum { SPREAD_MEAN = 2, SPREAD_COUNT, SPREAD_SIZE };

/* The kept or the reduced axes of the input: outermost first, the smallest step last. */
typedef struct axes {
    int32_t ndim;
    int64_t count;
    int64_t shape[AXES_MAX];
    int64_t step[AXES_MAX]; /* bytes in the input */
    int64_t out[AXES_MAX];  /* and in the output */
} axes;

typedef struct reduce_plan {
    method method;
    method exact; /* if `narrow`: used when a partial sum has left the range of f32 */
    int narrow;
    axes kept, reduced;
    char *in, *out[REDUCE_OUTPUTS];
    int32_t outputs; /* the results of two outputs are result_size doubles apart */
    int64_t result_size;
    collet_dtype to;
    int spread;     /* each chunk uses its own mean: see join_spread */
    method sum;     /* for the mean */
    int to_center;  /* results are stored in `center`, not in the output */
    double *center; /* the mean of each column, [items][tile]; NULL: not needed */
    int by_columns; /* 1: tiles of columns are reduced; 0: one kept element at a time */
    int64_t tile;   /* columns of a tile; 1 unless by_columns */
    int64_t tiles;  /* the number of tiles along the last kept axis; an item is one tile */
    int64_t fold;   /* adjacent rows that count as one wide row */
    int64_t blocks; /* unless by_columns: blocks per kept element */
    int64_t chunk;  /* blocks or rows per chunk */
    int64_t chunks; /* the number of chunks of a tile */
    int64_t items;  /* tiles in all */
    int shared;     /* several threads share the chunks of a tile */
    int by_elements; /* one kept element at a time; results are stored together, because stores take long */
    double *partial; /* results of `tile` columns: [items][chunks] if shared, else two per thread */
    const reduce_source *source; /* NULL: the elements are at `in` */
    int64_t size;                /* bytes of an element, and of its parts */
    int64_t part_size;
} reduce_plan;

/* Doubles that the results of a tile need: for each output one result per column, then one rounding error per
 * column. */
static inline int64_t reduce_tile_size(const reduce_plan *plan)
{
    return plan->outputs * plan->result_size;
}

/* Doubles of a thread: the results of two tiles, on cache lines that no other thread writes to. */
static inline int64_t reduce_thread_size(const reduce_plan *plan)
{
    return divide_up(2 * reduce_tile_size(plan), 16) * 16;
}

/* Fills *plan for a call, except the methods, the addresses and the members that describe the elements. */
void reduce_plan_make(reduce_plan *plan, const collet_device *device, const collet_kernel_call *call);

/* The byte offset in the input of element `index` of the first ndim axes; adds the offset in the output to *out. */
int64_t axes_offset(const axes *x, int32_t ndim, int64_t index, int64_t *out);
