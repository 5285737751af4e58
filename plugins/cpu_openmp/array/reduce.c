/* SPDX-License-Identifier: Apache-2.0 */
/* All reductions except argmin and argmax. Elements are reduced in chunks whose size depends on the shape alone, and
 * chunks are combined in order, so that the result does not depend on the number of threads. A
 * chunk's result is a number and, for sums, its rounding error. For var and std a second pass sums the squares of the
 * distances from the mean. For f32 along rows, each chunk has its own mean and its own two passes.
 * Tests: conformance/array/reduce.c, tests/cpu_openmp/test_kernels_openmp.c
 */
#include "cpu_openmp/runtime/device.h"

#include <stdlib.h>
#include <string.h>

#include "cpu_openmp/runtime/team.h"
#include "shared/host/util/counts.h"
#include "shared/host/util/rows.h"
#include "shared/host/util/sum.h"
#include "cpu_openmp/util/range.h"
#include "reduce_plan.h"
#include "reduce.h"

#define PART 512    /* columns whose chunks are joined at a time */
#define ELEMENTS 64 /* the number of results that are stored together */
#define AHEAD 16384 /* bytes of short rows that a source (reduce_source.h) computes together, in the L1 cache */

/* Sums of f32 columns with at least this many rows add groups of elements in f32 first (method_narrow). */
#define NARROW_ROWS 16

/* What a thread reduces. */
typedef struct part {
    const reduce_plan *plan;
    int32_t thread;
    reduce_about about;
    const method *method;
    double mean; /* the mean of a chunk */
    int left; /* narrow: a number left the range of f32 before the current elements were computed */
    const char *ahead; /* where the elements in scratch_of begin, relative to plan->in; NULL: the scratch is empty */
} part;

/* ---- Elements of a source -------------------------------------------------------------------- */

static char *scratch_of(part *p)
{
    const reduce_plan *plan = p->plan;
    return plan->source->scratch + p->thread * plan->outputs * (int64_t)REDUCE_CAPACITY;
}

/* Computes `bytes` bytes of all outputs of the source, from byte `in` - plan->in on. */
static void fetch(part *p, const char *in, int64_t bytes, char *out)
{
    const reduce_plan *plan = p->plan;
    int64_t begin = in - plan->in;
    p->left |= plan->narrow && range_was_left();
    plan->source->fetch(plan->source->context, p->thread, begin / plan->size,
                        divide_up(begin + bytes, plan->size), out);
    if (plan->narrow)
        range_begin();
}

/* Reduces `rows` rows of `width` columns; the rows are `row` bytes apart. If there is a source, its elements are
 * computed in pieces that fit REDUCE_CAPACITY: groups of rows, or, if rows are interleaved, groups of columns. The
 * results are the same as without a source. */
static void reduce_columns(part *p, const reduce_about *about, double *result, double *lost,
                           const char *in, int64_t row, int64_t rows, int64_t width)
{
    const reduce_plan *plan = p->plan;
    int64_t column = plan->kept.step[plan->kept.ndim - 1];
    if (!plan->source) {
        method_columns(p->method, about, result, lost, in, row, column, rows, width);
        return;
    }
    int64_t bytes = (width - 1) * column + plan->part_size, most = REDUCE_CAPACITY / column - 1;
    char *to = scratch_of(p);
    for (int64_t j = 0; j < width && row < bytes; j += most) {
        int64_t n = min_i64(most, width - j);
        const reduce_about piece = {about->bits, about->center ? about->center + j : NULL};
        fetch(p, in + j * column, (n - 1) * column + (rows - 1) * row + plan->part_size, to);
        for (int64_t k = 0, at = j; k < plan->outputs; k++, at += plan->result_size)
            method_columns(p->method, &piece, result + at, lost + at, to + k * REDUCE_CAPACITY, row,
                           column, rows, n);
    }
    int64_t group = REDUCE_CAPACITY / (width * column) / REDUCE_TREE * REDUCE_TREE;
    for (int64_t i = 0; i < rows && row >= bytes; i += group) {
        int64_t n = min_i64(group, rows - i), next = width * column;
        if (row == next)
            fetch(p, in + i * row, (n - 1) * row + bytes, to);
        for (int64_t k = 0; k < n && row != next; k++)
            fetch(p, in + (i + k) * row, bytes, to + k * next);
        for (int64_t k = 0, at = 0; k < plan->outputs; k++, at += plan->result_size)
            method_columns(p->method, about, result + at, lost + at, to + k * REDUCE_CAPACITY, next,
                           column, n, width);
    }
}

/* ---- Along each kept element ----------------------------------------------------------------- */

/* Reduces blocks begin .. end-1 of the kept element at `in`. */
static void reduce_blocks(part *p, const char *in, int64_t begin, int64_t end, double *result,
                          double *lost)
{
    const reduce_plan *plan = p->plan;
    const axes *r = &plan->reduced;
    int64_t length = r->shape[r->ndim - 1], step = r->step[r->ndim - 1];
    int64_t in_a_row = divide_up(length, REDUCE_BLOCK);
    for (int64_t b = begin; b < end; b++) {
        int64_t first = b % in_a_row * REDUCE_BLOCK;
        const char *at = in + axes_offset(r, r->ndim - 1, b / in_a_row, NULL) + first * step;
        int64_t n = min_i64(length - first, REDUCE_BLOCK);
        if (!plan->source) {
            method_run(p->method, &p->about, result, lost, at, step, n);
            continue;
        }
        const char *from = scratch_of(p) + (p->ahead ? at - p->ahead : 0);
        if (!p->ahead)
            fetch(p, at, n * step, scratch_of(p));
        for (int64_t k = 0; k < plan->outputs; k++)
            method_run(p->method, &p->about, result + k * plan->result_size,
                       lost + k * plan->result_size, from + k * REDUCE_CAPACITY, step, n);
    }
}

/* ---- By columns ------------------------------------------------------------------------------ */

static void clear(const reduce_plan *plan, double *result, double *lost, int64_t width)
{
    for (int64_t j = 0; j < width; j++) {
        result[j] = plan->method.first;
        lost[j] = 0.0;
    }
}

/* Combines the results of `width` columns with further results of the same columns. */
static void join(const reduce_plan *plan, double *result, double *lost, const double *more,
                 const double *more_lost, int64_t width)
{
    static const reduce_about plain;
    enum { STEP = sizeof(double) };
    plan->method.join->columns(result, lost, (const char *)more, 0, STEP, 1, width, &plain);
    for (int64_t j = 0; j < width; j++)
        lost[j] += more_lost[j];
}

/* Reduces rows begin .. end-1 of adjacent columns; the rows follow each other in memory. `about` has the
 * parameters for a wide row. */
static __attribute__((noinline)) void reduce_wide_rows(part *p, const reduce_about *about,
                                                       const char *in, int64_t begin, int64_t end,
                                                       int64_t width, double *result, double *lost)
{
    const reduce_plan *plan = p->plan;
    double folded[REDUCE_FOLD], folded_lost[REDUCE_FOLD];
    int64_t step = plan->reduced.step[0], wide = width * plan->fold;
    clear(plan, folded, folded_lost, wide);
    reduce_columns(p, about, folded, folded_lost, in + begin * step, step * plan->fold,
                   (end - begin) / plan->fold, wide);
    for (int64_t j = 0; j < wide; j += width)
        join(plan, result, lost, folded + j, folded_lost + j, width);
}

static void reduce_folded(part *p, const char *in, int64_t begin, int64_t end, int64_t width,
                          double *result, double *lost)
{
    double center[REDUCE_FOLD];
    const reduce_about *about = &p->about, wide = {about->bits, about->center ? center : NULL};
    for (int64_t j = 0; about->center && j < width * p->plan->fold; j++)
        center[j] = about->center[j % width];
    reduce_wide_rows(p, &wide, in, begin, end, width, result, lost);
}

/* Reduces rows begin .. end-1 of the tile at `in`. */
static void reduce_rows(part *p, const char *in, int64_t begin, int64_t end, int64_t width,
                        double *result, double *lost)
{
    const reduce_plan *plan = p->plan;
    const axes *r = &plan->reduced;
    int64_t length = r->shape[r->ndim - 1], step = r->step[r->ndim - 1];
    if (plan->fold > 1) {
        reduce_folded(p, in, begin, end, width, result, lost);
        begin += (end - begin) / plan->fold * plan->fold;
    }
    while (begin < end) {
        int64_t first = begin % length, n = min_i64(length - first, end - begin);
        const char *at = in + axes_offset(r, r->ndim - 1, begin / length, NULL) + first * step;
        reduce_columns(p, &p->about, result, lost, at, step, n, width);
        begin += n;
    }
}

/* ---- Items ----------------------------------------------------------------------------------- */

/* Sets *in to the address of tile `item` in the input and *out to its offset in outputs, in bytes; returns the number
 * of its columns. */
static int64_t find_tile(const reduce_plan *plan, int64_t item, const char **in, int64_t *out)
{
    const axes *k = &plan->kept;
    int32_t last = k->ndim - 1;
    int64_t first = item % plan->tiles * plan->tile, to = 0;
    int64_t from = axes_offset(k, last, item / plan->tiles, &to);
    *in = plan->in + from + first * k->step[last];
    *out = to + first * k->out[last];
    return min_i64(k->shape[last] - first, plan->tile);
}

static void reduce_chunk_by(part *p, const method *by, int64_t item, const char *in, int64_t chunk,
                            int64_t width, double *result)
{
    const reduce_plan *plan = p->plan;
    int64_t limit = plan->by_columns ? plan->reduced.count : plan->blocks;
    int64_t begin = chunk * plan->chunk, end = min_i64(begin + plan->chunk, limit);
    double *lost = result + plan->tile;
    p->method = by;
    if (plan->center && !plan->to_center)
        p->about.center = plan->center + item * plan->tile;
    for (int64_t k = 0, at = 0; k < plan->outputs; k++, at += plan->result_size)
        clear(plan, result + at, lost + at, width);
    if (plan->by_columns)
        reduce_rows(p, in, begin, end, width, result, lost);
    else
        reduce_blocks(p, in, begin, end, result, lost);
}

/* The mean of a chunk, and the number of its elements. */
static void find_mean(part *p, int64_t item, const char *in, int64_t chunk, double *result)
{
    const reduce_plan *plan = p->plan;
    int64_t begin = chunk * plan->chunk, end = min_i64(begin + plan->chunk, plan->blocks);
    int64_t length = plan->reduced.shape[plan->reduced.ndim - 1];
    int64_t in_a_row = divide_up(length, REDUCE_BLOCK), rows = end / in_a_row - begin / in_a_row;
    int64_t count = rows * length + (end % in_a_row - begin % in_a_row) * REDUCE_BLOCK;
    reduce_chunk_by(p, &plan->sum, item, in, chunk, 1, result);
    p->mean = cpu_total(&(cpu_sum){result[0], result[1]}) / (double)count;
    p->about.center = &p->mean;
    result[SPREAD_MEAN] = p->mean;
    result[SPREAD_COUNT] = (double)count;
}

/* Computes the reduce_tile_size results of one chunk of the tile at `in`. */
static void reduce_chunk(part *p, int64_t item, const char *in, int64_t chunk, int64_t width,
                         double *result)
{
    const reduce_plan *plan = p->plan;
    if (plan->spread)
        find_mean(p, item, in, chunk, result);
    p->left = 0; /* exception flags from before this chunk do not count */
    if (plan->narrow)
        range_begin();
    reduce_chunk_by(p, &plan->method, item, in, chunk, width, result);
    if (plan->narrow && (p->left || range_was_left()))
        reduce_chunk_by(p, &plan->exact, item, in, chunk, width, result);
}

/* Stores the results of `width` columns: in `center` from number `first` on, or in the outputs from byte `out` on. */
static void store(const reduce_plan *plan, int64_t first, int64_t out, int64_t width,
                  const double *result, const double *lost)
{
    int64_t step = plan->kept.out[plan->kept.ndim - 1];
    if (plan->to_center) {
        method_store(&plan->method, (char *)(plan->center + first), COLLET_F64, sizeof(double),
                     result, lost, width);
        return;
    }
    for (int64_t k = 0, at = 0; k < plan->outputs; k++, at += plan->result_size)
        method_store(&plan->method, plan->out[k] + out, plan->to, step, result + at, lost + at,
                     width);
}

/* Joins two sums of squared distances from the means of n and m elements: the sum of squared distances from the
 * common mean is their sum plus d^2 n m / (n + m), where d is the difference of the means (Chan, Golub, LeVeque:
 * Updating formulae and a pairwise algorithm for computing sample variances, 1979). */
static void join_spread(double *result, const double *more)
{
    double n = result[SPREAD_COUNT], m = more[SPREAD_COUNT], share = m / (n + m);
    double apart = more[SPREAD_MEAN] - result[SPREAD_MEAN];
    result[1] += apart * apart * n * share;
    result[SPREAD_MEAN] += apart * share;
    result[SPREAD_COUNT] = n + m;
}

/* Combines the results of a further chunk. */
static void join_chunk(const reduce_plan *plan, double *result, const double *more, int64_t width)
{
    if (plan->spread)
        join_spread(result, more);
    for (int64_t k = 0; k < plan->outputs; k++) {
        join(plan, result, result + plan->tile, more, more + plan->tile, width);
        result += plan->result_size;
        more += plan->result_size;
    }
}

/* The number of short rows whose elements a source computes at a time, because starting a program takes longer than
 * running it on a few elements. 0: rows are computed one by one. */
static int64_t rows_together(const reduce_plan *plan)
{
    int64_t row = plan->reduced.count * plan->size, step = plan->kept.step[plan->kept.ndim - 1];
    return plan->source && row > 0 && row == step && plan->reduced.ndim == 1 && 2 * row <= AHEAD
               ? min_i64(AHEAD / row, ELEMENTS)
               : 0;
}

/* Reduces tiles begin .. end-1, each of one column and one chunk, all along one axis; stores the results together. */
static void reduce_elements(part *p, int64_t begin, int64_t end)
{
    const reduce_plan *plan = p->plan;
    const axes *k = &plan->kept;
    double result[ELEMENTS], lost[ELEMENTS], one[2];
    const char *in;
    int64_t out, step = k->step[k->ndim - 1], together = rows_together(plan);
    find_tile(plan, begin, &in, &out);
    for (int64_t i = begin; i < end; i++, in += step) {
        if (together && (i - begin) % together == 0) {
            p->ahead = in;
            fetch(p, in, min_i64(together, end - i) * step, scratch_of(p));
        }
        reduce_chunk(p, i, in, 0, 1, one);
        result[i - begin] = one[0];
        lost[i - begin] = one[1];
    }
    p->ahead = NULL;
    store(plan, begin, out, end - begin, result, lost);
}

/* Reduces whole tiles; plan->partial has room for two results per thread. */
static TEAM_BODY(reduce_tiles)
{
    const reduce_plan *plan = argument;
    part p = {.plan = plan, .thread = thread, .about = plan->method.about, .method = &plan->method};
    int64_t last;
    for (int64_t item = begin; plan->by_elements && item < end; item = last) {
        last =
            min_i64(item / plan->tiles * plan->tiles + plan->tiles, min_i64(item + ELEMENTS, end));
        reduce_elements(&p, item, last);
    }
    for (int64_t item = begin; !plan->by_elements && item < end; item++) {
        const char *in;
        int64_t out;
        double *result = plan->partial + thread * reduce_thread_size(plan);
        double *more = result + reduce_tile_size(plan);
        int64_t width = find_tile(plan, item, &in, &out);
        reduce_chunk(&p, item, in, 0, width, result);
        for (int64_t chunk = 1; chunk < plan->chunks; chunk++) {
            reduce_chunk(&p, item, in, chunk, width, more);
            join_chunk(plan, result, more, width);
        }
        store(plan, item * plan->tile, out, width, result, result + plan->tile);
    }
}

/* Reduces chunks of tiles into plan->partial. */
static TEAM_BODY(reduce_chunks)
{
    const reduce_plan *plan = argument;
    part p = {.plan = plan, .thread = thread, .about = plan->method.about, .method = &plan->method};
    for (int64_t i = begin; i < end; i++) {
        const char *in;
        int64_t out;
        int64_t width = find_tile(plan, i / plan->chunks, &in, &out);
        reduce_chunk(&p, i / plan->chunks, in, i % plan->chunks, width,
                     plan->partial + i * reduce_tile_size(plan));
    }
}

/* Joins the chunks of plan->partial, PART columns at a time, and stores the results. */
static TEAM_BODY(join_chunks)
{
    const reduce_plan *plan = argument;
    int64_t parts = divide_up(plan->tile, PART);
    for (int64_t i = begin; i < end; i++) {
        const char *in;
        int64_t out;
        int64_t item = i / parts, first = i % parts * PART;
        int64_t width = min_i64(find_tile(plan, item, &in, &out) - first, PART);
        double *result = plan->partial + item * plan->chunks * reduce_tile_size(plan) + first;
        for (int64_t chunk = 1; chunk < plan->chunks; chunk++)
            join_chunk(plan, result, result + chunk * reduce_tile_size(plan), width);
        store(plan, item * plan->tile + first, out + first * plan->kept.out[plan->kept.ndim - 1],
              width, result, result + plan->tile);
    }
}

static int64_t partial_size(const collet_device *device, const reduce_plan *plan)
{
    return plan->shared ? plan->items * plan->chunks * reduce_tile_size(plan)
                        : device->threads * reduce_thread_size(plan);
}

int64_t reduce_workspace(const collet_device *device, const collet_kernel_call *call)
{
    reduce_plan plan = {0};
    reduce_plan_make(&plan, device, call);
    int64_t centers = reduce_has_center(call->op) && !plan.spread ? plan.items * plan.tile : 0;
    return (partial_size(device, &plan) + centers) * (int64_t)sizeof(double);
}

int reduce_together(const collet_device *device, const collet_kernel_call *call)
{
    const collet_operand *first = operand_of(call, 0);
    reduce_plan plan = {0};
    reduce_plan_make(&plan, device, call);
    int together = !reduce_has_center(call->op) && plan.fold == 1;
    for (uint32_t k = 1; k < call->n_out; k++) {
        const collet_operand *out = operand_of(call, k);
        together &= out->dtype == first->dtype;
        for (int32_t i = 0; i < out->ndim; i++)
            together &= out->strides[i] == first->strides[i];
    }
    return together;
}

/* Adds in f32 first if the results are not stored as f64 and there are enough terms. */
static void choose_narrow(reduce_plan *plan, const collet_device *device)
{
    plan->exact = plan->method;
    plan->narrow = plan->reduced.count >= (plan->by_columns ? NARROW_ROWS : REDUCE_NARROW) &&
                   plan->to != COLLET_F64 && method_narrow(&plan->method, device);
}

/* Whether elements that are next to each other are read and reduced to one number. */
static int is_adjacent(const reduce_plan *plan)
{
    return !plan->source && !plan->by_columns && plan->reduced.ndim == 1 &&
           llabs(plan->reduced.step[0]) == plan->size;
}

static void run(collet_device *device, reduce_plan *plan)
{
    if (plan->shared) {
        int64_t parts = divide_up(plan->tile, PART);
        team_phase phases[] = {
            {reduce_chunks, plan->items * plan->chunks, 1,
             is_adjacent(plan) && team_is_brief(plan->items * plan->reduced.count, REDUCE_GRAIN)},
            {join_chunks, plan->items * parts, divide_up(REDUCE_GRAIN, plan->chunks * PART), 0}};
        team_run_phases(device->threads, phases, 2, plan);
    } else {
        int64_t elements = plan->reduced.count * plan->tile, tile_elements = elements > 1 ? elements : 1;
        team_run(device->threads, plan->items, divide_up(REDUCE_GRAIN, tile_elements), reduce_tiles, plan);
    }
}

void reduce_run(collet_device *device, const collet_kernel_call *call, const reduce_source *source,
                int skip_nan)
{
    const collet_operand *out = operand_of(call, 0), *in = operand_of(call, call->n_out);
    reduce_plan plan = {.in = source ? source->scratch : cpu_at(in),
                        .to = part_of(out->dtype),
                        .source = source,
                        .size = (int64_t)cpu_dtype_size(in->dtype),
                        .part_size = (int64_t)cpu_dtype_size(part_of(in->dtype))};
    reduce_plan_make(&plan, device, call);
    for (uint32_t k = 0; k < call->n_out; k++)
        plan.out[k] = cpu_at(operand_of(call, k));
    plan.partial = call->workspace;
    if (plan.items == 0)
        return;
    if (reduce_has_center(call->op))
        method_choose(&plan.sum, device, COLLET_OP_MEAN, in->dtype, plan.reduced.count);
    if (reduce_has_center(call->op) && !plan.spread) {
        plan.center = plan.partial + partial_size(device, &plan);
        plan.to_center = 1;
        plan.method = plan.sum;
        run(device, &plan);
        plan.to_center = 0;
    }
    method_choose(&plan.method, device, call->op, in->dtype, plan.reduced.count);
    if (reduce_has_center(call->op))
        plan.method.divisor = reduce_divisor(
            plan.reduced.count, ((const collet_variance_params *)call->params)->correction);
    plan.method.about.bits |= (uint64_t)skip_nan;
    choose_narrow(&plan, device);
    run(device, &plan);
}

/* ---- Kernels ---------------------------------------------------------------------------------- */

ACCEPTS(reduce)
{
    *workspace_bytes = reduce_block_length(call) ? 0 : (uint64_t)reduce_workspace(device, call);
    return COLLET_OK;
}

KERNEL(reduce)
{
    int64_t count = reduce_block_length(call);
    if (count) {
        reduce_block(device, call, count);
        return COLLET_OK;
    }
    reduce_run(device, call, NULL, 0);
    return COLLET_OK;
}
