/* SPDX-License-Identifier: Apache-2.0 */
/*
 * argmin and argmax. The kernel of min or max computes the extremes of blocks; only the first block with the most
 * extreme element is then searched. Threads share the outputs or, if these are few, the elements of each; parts are
 * compared in their order.
 * Tests: conformance/array/reduce.c, tests/cpu_openmp/test_kernels_openmp.c
 */
#include "cpu_openmp/runtime/device.h"

#include <math.h>
#include <string.h>

#include "cpu_openmp/runtime/team.h"
#include "shared/host/util/counts.h"
#include "cpu_openmp/util/loop.h"
#include "cpu_openmp/util/real.h"
#include "shared/host/util/rows.h"
#include "reduction.h"

#define GRAIN (32 << 10) /* elements per thread, at least */
#define BLOCK 4096       /* elements, which stay in the L1 cache */
#define PIECE 64         /* elements of a piece of such a block */
#define PARTS 256        /* the maximum number of parts of one output */
/* Up to this many elements (SHORT: adjacent, SHORT_APART: others) are compared one by one: a kernel call takes
 * longer. */
#define SHORT 16
#define SHORT_APART 32

#define GROUP 512 /* unless the extreme is NaN, it is in the GROUP bytes that begin at the result of place_begin */

/* A block of elements and its extreme. */
typedef struct block {
    double value;   /* the extreme as kernels store it: a number, or the bits of an integer */
    int64_t index;  /* the index of the first element, in C order of the reduced axes */
    const char *at; /* the first element; NULL: all elements so far equal the result of an empty reduction */
    int64_t left;   /* number of elements */
} block;

typedef struct job {
    method method;
    const place_kernels *kernels;
    int greatest; /* argmax */
    loop kept;    /* view 0 is the output, view 1 the input */
    loop reduced; /* view 0 is the input */
    int32_t threads;
    int64_t part; /* elements of a part */
} job;

/* One output that threads share. */
typedef struct division {
    const job *job;
    char *in;
    block best[PARTS]; /* the best block of each part */
} division;

typedef struct search {
    const job *job;
    int64_t index; /* the index of the next element */
    block best;
} search;

/* Whether the later x replaces y: only if it is more extreme; NaN is more extreme than any number,
 * and zeros of either sign are equal. */
static int exceeds(const job *j, double x, double y)
{
    if (j->method.kind == RESULT_NUMBER)
        return !(j->greatest ? x <= y : x >= y) && !isnan(y);
    int64_t p, q;
    memcpy(&p, &x, sizeof p);
    memcpy(&q, &y, sizeof q);
    return p < q;
}

static double extreme_of(const job *j, const char *in, int64_t step, int64_t n)
{
    double x = j->method.first, unused = 0.0;
    method_run(&j->method, &j->method.about, &x, &unused, in, step, n);
    return x;
}

static int is_plain(collet_dtype dtype)
{
    return dtype != COLLET_F16 && dtype != COLLET_BF16;
}

/* The search among adjacent elements for `extreme`, which is not NaN. Kernels of integers compare with flipped bits. */
static int64_t first_of(const job *j, const char *in, int64_t n, double extreme)
{
    const place_kernels *kernels = j->kernels;
    int64_t word;
    memcpy(&word, &extreme, sizeof word);
    if (j->method.kind == RESULT_NUMBER)
        return kernels->first_real[j->method.from == COLLET_F64](in, n, extreme, 0);
    uint32_t size = (uint32_t)__builtin_ctz((unsigned)cpu_dtype_size(j->method.from));
    return kernels->first_word[size](in, n, 0.0, word ^ (int64_t)j->method.about.bits);
}

/* The index of the first of n elements that equals `extreme`; n if there is none, because another thread has
 * changed the input. */
static int64_t before(const job *j, const char *in, int64_t step, int64_t n, double extreme)
{
    int64_t i = 0;
    int is_f64 = j->method.from == COLLET_F64;
    if (!is_f64 && j->method.from != COLLET_F32)
        while (i < n && exceeds(j, extreme, extreme_of(j, in + i * step, 0, 1)))
            i++;
    else if (isnan(extreme))
        while (i < n && !isnan(real_load(in + i * step, is_f64)))
            i++;
    else
        while (i < n && real_load(in + i * step, is_f64) != extreme)
            i++;
    return i;
}

static void search_row(const void *context, char *const *at, const int64_t *step, int64_t n)
{
    search *s = *(search *const *)context;
    for (int64_t i = 0; i < n; i += BLOCK) {
        const char *in = at[0] + i * step[0];
        int64_t count = min_i64(n - i, BLOCK);
        double x = extreme_of(s->job, in, step[0], count);
        if (exceeds(s->job, x, s->best.value))
            s->best = (block){x, s->index + i, in, count};
    }
    s->index += n;
}

/* The first block with the most extreme element among elements begin .. end-1 at `in`. */
static block search_part(const job *j, char *in, int64_t begin, int64_t end)
{
    search s = {j, begin, {j->method.first, begin, NULL, 0}}, *context = &s;
    if (j->reduced.ndim == 1) {
        char *at = in + begin * j->reduced.step[0][0];
        search_row(&context, &at, j->reduced.step[0], end - begin);
    } else {
        loop reduced = j->reduced;
        reduced.at[0] = in;
        loop_run(&reduced, begin, end, search_row, &context);
    }
    return s.best;
}

/* The index of the first element of `b` that equals the extreme of `b`. Skips pieces whose own extreme is less
 * extreme. */
static int64_t place_in(const job *j, block b)
{
    int64_t step = j->reduced.step[0][j->reduced.ndim - 1];
    int is_number = j->method.kind == RESULT_NUMBER;
    if (b.at && step == (int64_t)cpu_dtype_size(j->method.from) && is_plain(j->method.from) &&
        !(is_number && isnan(b.value)))
        return b.index + first_of(j, b.at, b.left - 1, b.value);
    for (; b.at && b.left > PIECE && exceeds(j, b.value, extreme_of(j, b.at, step, PIECE));
         b.left -= PIECE) {
        b.index += PIECE;
        b.at += PIECE * step;
    }
    return b.at ? b.index + before(j, b.at, step, b.left - 1, b.value) : b.index;
}

static TEAM_BODY(search_parts)
{
    division *d = argument;
    int64_t part = d->job->part, count = d->job->reduced.count;
    for (int64_t i = begin; i < end; i++)
        d->best[i] = search_part(d->job, d->in, i * part, min_i64((i + 1) * part, count));
}

static void run_shared(const void *context, char *const *at, const int64_t *step, int64_t n)
{
    const job *j = context;
    int64_t parts = divide_up(j->reduced.count, j->part);
    for (int64_t i = 0; i < n; i++) {
        division d;
        d.job = j;
        d.in = at[1] + i * step[1];
        team_run(j->threads, parts, 1, search_parts, &d);
        block best = d.best[0];
        for (int64_t k = 1; k < parts; k++)
            best = exceeds(j, d.best[k].value, best.value) ? d.best[k] : best;
        *(int64_t *)(void *)(at[0] + i * step[0]) = place_in(j, best);
    }
}

/* The index of the extreme along a short axis, for numbers of f32 or f64. */
static inline int64_t place_in_short(const job *j, const char *in, int is_f64)
{
    const int64_t step = j->reduced.step[0][0], n = j->reduced.count;
    const double sign = j->greatest ? -1.0 : 1.0;
    double best = n ? sign * real_load(in, is_f64) : 0.0;
    int64_t place = 0;
    for (int64_t i = 1; i < n; i++) {
        double x = sign * real_load(in + i * step, is_f64);
        int better = (x < best) | ((x != x) & (best == best));
        place = better ? i : place;
        best = better ? x : best;
    }
    return place;
}

static void run_short_f32(const void *context, char *const *at, const int64_t *step, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        *(int64_t *)(void *)(at[0] + i * step[0]) = place_in_short(context, at[1] + i * step[1], 0);
}

static void run_short_f64(const void *context, char *const *at, const int64_t *step, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        *(int64_t *)(void *)(at[0] + i * step[0]) = place_in_short(context, at[1] + i * step[1], 1);
}

#define FEW 8 /* the fewest adjacent columns that are searched together */

/* NULL: the columns are not searched together. */
static place_columns *columns_of(const job *j)
{
    int32_t inner = j->kept.ndim - 1;
    collet_dtype dtype = j->method.from;
    int64_t length = j->reduced.count;
    if (j->reduced.ndim != 1 || length < 1 || length > INT32_MAX || j->kept.shape[inner] < FEW ||
        j->kept.step[1][inner] != (int64_t)cpu_dtype_size(dtype))
        return NULL;
    return j->kernels->columns[dtype];
}

static void run_columns(const void *context, char *const *at, const int64_t *step, int64_t n)
{
    const job *j = context;
    columns_of(j)(at[0], step[0], at[1], j->reduced.step[0][0], j->reduced.count, n, j->greatest,
                  j->method.about.bits);
}

/* For outputs that each reduce one block of adjacent elements: finds the extreme, then the first element that equals
 * it. */
static void run_block(const void *context, char *const *at, const int64_t *step, int64_t n)
{
    const job *j = context;
    int64_t size = j->reduced.step[0][0], length = j->reduced.count;
    int is_f64 = j->method.from == COLLET_F64;
    int in_vectors = length >= PIECE && size == (int64_t)cpu_dtype_size(j->method.from) &&
                     (is_f64 || j->method.from == COLLET_F32);
    for (int64_t i = 0; i < n; i++) {
        block b = {0.0, 0, at[1] + i * step[1], length};
        if (in_vectors) {
            b.index = j->kernels->begin[j->greatest][is_f64](b.at, length, &b.value);
            b.at += b.index * size;
            b.left = isnan(b.value) ? length : min_i64(length - b.index, GROUP / size);
        } else {
            b.value = extreme_of(j, b.at, size, length);
        }
        *(int64_t *)(void *)(at[0] + i * step[0]) = place_in(j, b);
    }
}

static void run_row(const void *context, char *const *at, const int64_t *step, int64_t n)
{
    const job *j = context;
    for (int64_t i = 0; i < n; i++) {
        block best = search_part(j, at[1] + i * step[1], 0, j->reduced.count);
        *(int64_t *)(void *)(at[0] + i * step[0]) = place_in(j, best);
    }
}

static TEAM_BODY(run_outputs)
{
    const job *j = argument;
    collet_dtype dtype = j->method.from;
    int adjacent = j->reduced.step[0][0] == (int64_t)cpu_dtype_size(dtype);
    int is_short = j->reduced.ndim == 1 && j->reduced.count <= (adjacent ? SHORT : SHORT_APART);
    loop_run(&j->kept, begin, end,
             columns_of(j)                     ? run_columns
             : is_short && dtype == COLLET_F32   ? run_short_f32
             : is_short && dtype == COLLET_F64   ? run_short_f64
             : j->reduced.ndim == 1 && j->reduced.count > 0 && j->reduced.count <= BLOCK ? run_block
                                                                                         : run_row,
             j);
}

static void add_axis(loop *l, int64_t extent, int64_t step0, int64_t step1)
{
    int32_t last = l->ndim - 1;
    l->count *= extent;
    if (last >= 0 && l->step[0][last] == extent * step0 && l->step[1][last] == extent * step1)
        l->shape[last] *= extent;
    else
        l->shape[last = l->ndim++] = extent;
    l->step[0][last] = step0;
    l->step[1][last] = step1;
}

static void split_axes(job *j, const collet_kernel_call *call)
{
    const collet_reduce_params *params = call->params;
    const collet_operand *out = operand_of(call, 0), *in = operand_of(call, 1);
    int32_t kept = 0;
    for (int32_t i = 0; i < in->ndim; i++) {
        if (params->axes >> i & 1)
            add_axis(&j->reduced, in->shape[i], cpu_step(in, i), 0);
        else
            add_axis(&j->kept, in->shape[i], cpu_step(out, params->keepdims ? i : kept++),
                     cpu_step(in, i));
    }
    if (j->kept.ndim == 0)
        add_axis(&j->kept, 1, 0, 0);
    if (j->reduced.ndim == 0)
        add_axis(&j->reduced, 1, 0, 0);
}

KERNEL(arg)
{
    const collet_operand *out = operand_of(call, 0), *in = operand_of(call, 1);
    int greatest = call->op == COLLET_OP_ARGMAX;
    job j = {.kernels = &device->level->reduce->place,
             .greatest = greatest,
             .kept = {.views = 2, .count = 1, .at = {cpu_at(out), cpu_at(in)}},
             .reduced = {.views = 1, .count = 1},
             .threads = device->threads};
    method_choose(&j.method, device, greatest ? COLLET_OP_MAX : COLLET_OP_MIN, in->dtype, 0);
    split_axes(&j, call);
    int64_t each = j.reduced.count;
    if (j.threads > 1 && j.kept.count < 4 * (int64_t)j.threads && each >= 2 * GRAIN) {
        j.part = divide_up(each, min_i64(each / GRAIN, PARTS));
        loop_run(&j.kept, 0, j.kept.count, run_shared, &j);
    } else {
        team_run(j.threads, j.kept.count, 1 + GRAIN / (each > 0 ? each : 1), run_outputs, &j);
    }
    return COLLET_OK;
}
