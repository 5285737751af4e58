/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sum. Elements are added in chunks whose size depends on the shape alone, and the chunks in order,
 * so that the result does not depend on the number of threads.
 */
#include "device.h"

#include <stdlib.h>

#include "../cpu/rows.h"
#include "../cpu/sum.h"
#include "team.h"

#define BLOCK (16 << 10)
#define CHUNK (256 << 10) /* elements */
#define TILE 1024         /* columns side by side; their sums stay in the first cache */

/* Fewer elements than this are not worth a second thread. */
#define GRAIN (32 << 10)

/* With no more rows than this, a loop over the columns beats one along each of them. */
#define FEW_ROWS 16

/* One kind of the input's axes: outermost first, the smallest step last. */
typedef struct axes {
    int32_t ndim;
    int64_t count;
    int64_t shape[COLLET_MAX_DIMS];
    int64_t step[COLLET_MAX_DIMS]; /* bytes in the input */
    int64_t out[COLLET_MAX_DIMS];  /* and in the output */
} axes;

typedef struct sum_plan {
    const reduce_kernels *kernels;
    axes kept, reduced;
    char *in, *out;
    int wide; /* the input is f64 */
    collet_dtype to;
    int by_columns;   /* else one kept element at a time */
    int64_t tile;     /* kept elements side by side; 1 unless by_columns */
    int64_t tiles;    /* along the last kept axis; an item is one tile */
    int64_t fold;     /* adjacent rows that count as one wide row */
    int64_t blocks;   /* by rows: of one kept element */
    int64_t chunk;    /* blocks or rows a chunk */
    int64_t chunks;   /* of one tile */
    int64_t items;    /* tiles in all */
    cpu_sum *partial; /* [items][chunks][tile], NULL: a tile is summed by one thread */
} sum_plan;

/* ---- The axes -------------------------------------------------------------------------------- */

static void add_axis(axes *x, int64_t extent, int64_t step, int64_t out)
{
    if (extent == 1)
        return;
    int32_t i = x->ndim++;
    for (; i > 0 && llabs(x->step[i - 1]) < llabs(step); i--) {
        x->shape[i] = x->shape[i - 1];
        x->step[i] = x->step[i - 1];
        x->out[i] = x->out[i - 1];
    }
    x->shape[i] = extent;
    x->step[i] = step;
    x->out[i] = out;
}

static void merge_axes(axes *x)
{
    int32_t last = 0;
    for (int32_t i = 1; i < x->ndim; i++) {
        int64_t n = x->shape[i];
        if (x->step[last] == n * x->step[i] && x->out[last] == n * x->out[i]) {
            x->shape[last] *= n;
        } else {
            last++;
            x->shape[last] = n;
        }
        x->step[last] = x->step[i];
        x->out[last] = x->out[i];
    }
    if (x->ndim == 0) {
        x->shape[0] = 1;
        x->step[0] = x->out[0] = 0;
    }
    x->ndim = last + 1;
}

/* The input's offset in bytes of element `index` of the first ndim axes; *out the output's. */
static int64_t offset_of(const axes *x, int32_t ndim, int64_t index, int64_t *out)
{
    int64_t offset = 0;
    for (int32_t i = ndim - 1; i >= 0; i--) {
        int64_t at = index % x->shape[i];
        index /= x->shape[i];
        offset += at * x->step[i];
        if (out)
            *out += at * x->out[i];
    }
    return offset;
}

static int64_t divide_up(int64_t a, int64_t b)
{
    return a / b + (a % b != 0);
}

static int64_t at_least_one(int64_t x)
{
    return x > 1 ? x : 1;
}

static int64_t at_most(int64_t x, int64_t limit)
{
    return x < limit ? x : limit;
}

static void split_axes(sum_plan *plan, const collet_kernel_call *call)
{
    const collet_reduce_params *params = call->params;
    const collet_operand *out = cpu_operand(call, 0), *in = cpu_operand(call, 1);
    int32_t kept = 0;
    plan->kept.count = plan->reduced.count = 1;
    for (int32_t i = 0; i < in->ndim; i++) {
        axes *x = params->axes >> i & 1 ? &plan->reduced : &plan->kept;
        x->count *= in->shape[i];
        if (x == &plan->reduced)
            add_axis(x, in->shape[i], cpu_step(in, i), 0);
        else
            add_axis(x, in->shape[i], cpu_step(in, i),
                     cpu_step(out, params->keepdims ? i : kept++));
    }
    merge_axes(&plan->kept);
    merge_axes(&plan->reduced);
}

static void make_plan(sum_plan *plan, const collet_kernel_call *call)
{
    split_axes(plan, call);
    const axes *kept = &plan->kept, *reduced = &plan->reduced;
    int64_t width = kept->shape[kept->ndim - 1], column = llabs(kept->step[kept->ndim - 1]);
    int64_t length = reduced->shape[reduced->ndim - 1],
            row = llabs(reduced->step[reduced->ndim - 1]);
    plan->by_columns =
        width > 1 && (column < row || (reduced->count <= FEW_ROWS && width > length));
    plan->tile = plan->fold = 1;
    plan->tiles = width;
    if (plan->by_columns) {
        plan->tile = at_most(width, TILE);
        plan->tiles = divide_up(width, plan->tile);
        if (reduced->ndim == 1 && 2 * width <= TILE &&
            reduced->step[0] == width * kept->step[kept->ndim - 1])
            plan->fold = TILE / width;
        plan->chunk = at_least_one(CHUNK / plan->tile / plan->fold) * plan->fold;
        plan->chunks = divide_up(reduced->count, plan->chunk);
    } else {
        plan->blocks = reduced->count == 0 ? 0 : reduced->count / length * divide_up(length, BLOCK);
        plan->chunk = CHUNK / at_most(at_least_one(length), BLOCK);
        plan->chunks = divide_up(plan->blocks, plan->chunk);
    }
    plan->items = kept->count == 0 ? 0 : kept->count / width * plan->tiles;
}

/* ---- Along each kept element ----------------------------------------------------------------- */

static void add_sum(cpu_sum *total, const cpu_sum *part)
{
    cpu_add(total, part->sum);
    total->lost += part->lost;
}

/* *total = the sum of blocks begin .. end-1 of the kept element at `in`. */
static void sum_blocks(const sum_plan *plan, const char *in, int64_t begin, int64_t end,
                       cpu_sum *total)
{
    *total = (cpu_sum){0.0, 0.0};
    const axes *r = &plan->reduced;
    int64_t length = r->shape[r->ndim - 1], step = r->step[r->ndim - 1];
    int64_t in_a_row = divide_up(length, BLOCK);
    for (int64_t b = begin; b < end; b++) {
        int64_t first = b % in_a_row * BLOCK;
        const char *at = in + offset_of(r, r->ndim - 1, b / in_a_row, NULL) + first * step;
        plan->kernels->run[plan->wide](&total->sum, &total->lost, at, step,
                                       at_most(length - first, BLOCK));
    }
}

/* ---- By columns ------------------------------------------------------------------------------ */

/* total[0 .. width-1] = the sums of rows begin .. end-1 of the tile at `in`. */
static void sum_rows(const sum_plan *plan, const char *in, int64_t begin, int64_t end,
                     int64_t width, cpu_sum *total)
{
    const axes *r = &plan->reduced;
    int64_t length = r->shape[r->ndim - 1], step = r->step[r->ndim - 1];
    int64_t column_step = plan->kept.step[plan->kept.ndim - 1];
    int64_t wide = width * plan->fold, folded = (end - begin) / plan->fold;
    double sum[TILE], lost[TILE];
    for (int64_t j = 0; j < wide; j++)
        sum[j] = lost[j] = 0.0;
    if (plan->fold > 1) {
        plan->kernels->columns[plan->wide](sum, lost, in + begin * step, step * plan->fold,
                                           column_step, folded, wide);
        begin += folded * plan->fold;
    }
    while (begin < end) {
        int64_t first = begin % length, n = at_most(length - first, end - begin);
        const char *at = in + offset_of(r, r->ndim - 1, begin / length, NULL) + first * step;
        plan->kernels->columns[plan->wide](sum, lost, at, step, column_step, n, width);
        begin += n;
    }
    for (int64_t j = 0; j < wide; j++) {
        cpu_sum part = {sum[j], lost[j]};
        if (j < width)
            total[j] = part;
        else
            add_sum(&total[j % width], &part);
    }
}

/* ---- Items ----------------------------------------------------------------------------------- */

/* Where tile `item` begins in input and output, and how many columns it has. */
static int64_t find_tile(const sum_plan *plan, int64_t item, const char **in, char **out)
{
    const axes *k = &plan->kept;
    int32_t last = k->ndim - 1;
    int64_t first = item % plan->tiles * plan->tile, to = 0;
    int64_t from = offset_of(k, last, item / plan->tiles, &to);
    *in = plan->in + from + first * k->step[last];
    *out = plan->out + to + first * k->out[last];
    return at_most(k->shape[last] - first, plan->tile);
}

/* total[0 .. width-1] = the sums of one chunk of the tile at `in`. */
static void sum_chunk(const sum_plan *plan, const char *in, int64_t chunk, int64_t width,
                      cpu_sum *total)
{
    int64_t limit = plan->by_columns ? plan->reduced.count : plan->blocks;
    int64_t begin = chunk * plan->chunk, end = at_most(begin + plan->chunk, limit);
    if (plan->by_columns)
        sum_rows(plan, in, begin, end, width, total);
    else
        sum_blocks(plan, in, begin, end, total);
}

static void store(const sum_plan *plan, char *out, int64_t width, const cpu_sum *total)
{
    int64_t step = plan->kept.out[plan->kept.ndim - 1];
    for (int64_t j = 0; j < width; j++, out += step) {
        double x = cpu_total(&total[j]);
        if (plan->to == COLLET_F64)
            *(double *)(void *)out = x;
        else
            *(float *)(void *)out = (float)x;
    }
}

/* Adds the sums of a further chunk. */
static void add_chunk(cpu_sum *total, const cpu_sum *part, int64_t width)
{
    for (int64_t j = 0; j < width; j++)
        add_sum(&total[j], &part[j]);
}

/* Whole tiles. */
static void sum_tiles(void *argument, int32_t thread, int64_t begin, int64_t end)
{
    const sum_plan *plan = argument;
    (void)thread;
    for (int64_t item = begin; item < end; item++) {
        const char *in;
        char *out;
        cpu_sum total[TILE], part[TILE];
        int64_t width = find_tile(plan, item, &in, &out);
        sum_chunk(plan, in, 0, width, total);
        for (int64_t chunk = 1; chunk < plan->chunks; chunk++) {
            sum_chunk(plan, in, chunk, width, part);
            add_chunk(total, part, width);
        }
        store(plan, out, width, total);
    }
}

/* Chunks of tiles, into plan->partial. */
static void sum_chunks(void *argument, int32_t thread, int64_t begin, int64_t end)
{
    const sum_plan *plan = argument;
    (void)thread;
    for (int64_t i = begin; i < end; i++) {
        const char *in;
        char *out;
        cpu_sum *part = plan->partial + i * plan->tile;
        int64_t width = find_tile(plan, i / plan->chunks, &in, &out);
        sum_chunk(plan, in, i % plan->chunks, width, part);
    }
}

static void combine_chunks(const sum_plan *plan)
{
    for (int64_t item = 0; item < plan->items; item++) {
        const char *in;
        char *out;
        int64_t width = find_tile(plan, item, &in, &out);
        cpu_sum *total = plan->partial + item * plan->chunks * plan->tile;
        for (int64_t chunk = 1; chunk < plan->chunks; chunk++)
            add_chunk(total, total + chunk * plan->tile, width);
        store(plan, out, width, total);
    }
}

/* Too few tiles to keep the threads busy, and each large enough to be shared. */
static int shares_tiles(const collet_device *device, const sum_plan *plan)
{
    return device->threads > 1 && plan->chunks > 1 && plan->items < 4 * (int64_t)device->threads;
}

WORKSPACE(sum)
{
    sum_plan plan = {0};
    make_plan(&plan, call);
    if (!shares_tiles(device, &plan))
        return 0;
    return (uint64_t)(plan.items * plan.chunks * plan.tile) * sizeof(cpu_sum);
}

KERNEL(sum)
{
    const collet_operand *out = cpu_operand(call, 0), *in = cpu_operand(call, 1);
    sum_plan plan = {.kernels = device->level->reduce,
                     .in = cpu_at(in),
                     .out = cpu_at(out),
                     .wide = in->dtype == COLLET_F64,
                     .to = out->dtype};
    make_plan(&plan, call);
    if (plan.items == 0)
        return COLLET_OK;
    int64_t tile_elements = at_least_one(plan.reduced.count * plan.tile);
    int64_t grain = divide_up(GRAIN, tile_elements);
    if (shares_tiles(device, &plan)) {
        plan.partial = call->workspace;
        team_run(device->threads, plan.items * plan.chunks, 1, sum_chunks, &plan);
        combine_chunks(&plan);
    } else {
        team_run(device->threads, plan.items, grain, sum_tiles, &plan);
    }
    return COLLET_OK;
}
