/* SPDX-License-Identifier: Apache-2.0 */
/*
 * argmax. The kernel of max computes the maxima of blocks; only the first block with the greatest
 * maximum is then searched. Threads share the outputs or, if these are few, the
 * elements of each; parts are compared in their order.
 * Tests: conformance/array/reduce.c, tests/cpu_openmp/test_kernels_openmp.c
 */
#include "cpu_openmp/runtime/device.h"

#include <math.h>

#include "cpu_openmp/runtime/team.h"
#include "shared/host/util/counts.h"
#include "cpu_openmp/util/loop.h"
#include "cpu_openmp/util/real.h"
#include "shared/host/util/rows.h"
#include "kernel_reduce.h"

#define GRAIN (32 << 10) /* elements per thread, at least */
#define BLOCK 4096       /* elements, which stay in the L1 cache */
#define VECTORS 256 /* elements: a multiple of the number that the kernel of max reads at once */
#define PARTS 256        /* of one output, at most */

/* A block whose maximum is `value`; it begins at `at`, which has `index` in the order of the axes.
 */
typedef struct block {
    double value;
    int64_t index;
    const char *at; /* NULL: all elements so far are -infinity */
} block;

typedef struct job {
    const reduction *max;
    loop kept;    /* view 0 is the output, view 1 the input */
    loop reduced; /* view 0 is the input */
    int64_t size; /* bytes of an element */
    int32_t threads;
    int64_t part; /* elements of a part */
} job;

/* One output that threads share. */
typedef struct division {
    const job *job;
    char *in;
    block best[PARTS]; /* of each part */
} division;

typedef struct search {
    const job *job;
    int64_t index; /* of the next element */
    block best;
} search;

/* Whether the later x replaces y: only if it is greater; NaN is greater than any number. */
static int exceeds(double x, double y)
{
    return !(x <= y) && !isnan(y);
}

static void take(search *s, double x, int64_t index, const char *at)
{
    if (exceeds(x, s->best.value))
        s->best = (block){x, index, at};
}

/* Blocks of adjacent elements; elsewhere single elements. */
static void search_row(const void *context, char *const *at, const int64_t *step, int64_t n)
{
    search *s = *(search *const *)context;
    const job *j = s->job;
    const char *p = at[0];
    int64_t i = 0, whole = step[0] == j->size ? n - n % VECTORS : 0;
    while (i < whole) {
        int64_t m = min_i64(whole - i, BLOCK);
        double x = -INFINITY, unused = 0.0;
        j->max->run[j->size == 8](&x, &unused, p + i * j->size, j->size, m);
        take(s, x, s->index + i, p + i * j->size);
        i += m;
    }
    for (; i < n; i++)
        take(s, real_load(p + i * step[0], j->size == 8), s->index + i, p + i * step[0]);
    s->index += n;
}

/* The first block with the greatest maximum among elements begin .. end-1 of those at `in`. */
static block search_part(const job *j, char *in, int64_t begin, int64_t end)
{
    search s = {j, begin, {-INFINITY, begin, NULL}}, *context = &s;
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

/* The index of the first element of `b` that is its maximum. */
static int64_t place_in(const job *j, block b)
{
    while (b.at && exceeds(b.value, real_load(b.at, j->size == 8))) {
        b.index++;
        b.at += j->reduced.step[0][j->reduced.ndim - 1];
    }
    return b.index;
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
            best = exceeds(d.best[k].value, best.value) ? d.best[k] : best;
        *(int64_t *)(void *)(at[0] + i * step[0]) = place_in(j, best);
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
    loop_run(&j->kept, begin, end, run_row, j);
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

KERNEL(argmax)
{
    const collet_operand *out = operand_of(call, 0), *in = operand_of(call, 1);
    job j = {.max = &device->level->reduce->max,
             .kept = {.views = 2, .count = 1, .at = {cpu_at(out), cpu_at(in)}},
             .reduced = {.views = 1, .count = 1},
             .size = in->dtype == COLLET_F64 ? 8 : 4,
             .threads = device->threads};
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
