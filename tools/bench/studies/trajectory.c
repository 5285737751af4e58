/* SPDX-License-Identifier: Apache-2.0 */
/* backend-bench trajectory: how the calls of a long run change, and whether memory leaks.
 * Tests: tests/tools/test_bench_studies.c */
#include "bench/base/heap.h"
#include "bench/base/modes.h"
#include "study.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCKS 10
#define LEAK_RESIDENT (10.0 * (1 << 20)) /* allocators may keep so much; as in collet.bench */

static const bench_column columns[] = {
    {"backend", "backend", BENCH_KEY},
    {"op", NULL, BENCH_KEY},
    {"signature", NULL, BENCH_KEY},
    {"shape", NULL, BENCH_KEY},
    {"calls", "calls", BENCH_VALUE},
    {"median", "median", BENCH_TIME},
    {"mean", NULL, BENCH_TIME},
    {"std", NULL, BENCH_TIME},
    {"p95", NULL, BENCH_TIME},
    {"p99", "p99", BENCH_TIME},
    {"max", "max", BENCH_TIME},
    {"low", NULL, BENCH_TIME},
    {"high", NULL, BENCH_TIME},
    {"drift", "drift", BENCH_SHARE},
    {"jitter", "jitter", BENCH_SHARE},
    {"array_bytes", NULL, BENCH_BYTES},
    {"device_bytes", "arrays", BENCH_BYTES},
    {"resident_bytes", "resident", BENCH_BYTES},
    {"steady", "time", BENCH_TEXT},
    {"leak", "memory", BENCH_TEXT},
};
#define COLUMNS ((int32_t)(sizeof columns / sizeof *columns))

enum { ARRAYS, DEVICE, RESIDENT, SPACES };

typedef struct run {
    bench_session *session;
    const char *choice;
    tool_sampler sampler;
    tool_stats stats;
    double medians[BLOCKS], low, high, jitter;
    double bytes[SPACES][BLOCKS + 1]; /* at the start and after each block */
} run;

static double bytes_in(collet_context *cx, const char *space)
{
    collet_memory_stats stats = {.struct_size = sizeof stats};
    return collet_memory(cx, &stats, space) == COLLET_OK ? (double)stats.current : 0;
}

static void note_memory(run *r, int32_t at)
{
    collet_context *cx = r->session->context;
    r->bytes[ARRAYS][at] = bytes_in(cx, "host");
    r->bytes[DEVICE][at] = bytes_in(cx, r->choice);
    r->bytes[RESIDENT][at] = (double)bench_heap_resident();
}

static collet_status sample(run *r)
{
    bench_session *s = r->session;
    collet_status status = tool_sampler_warm(&r->sampler, s->options->seconds);
    note_memory(r, 0);
    for (int32_t block = 0; block < BLOCKS && status == COLLET_OK; block++) {
        bench_session_show(s, "trajectory: %s, part %d of %d", r->choice, (int)block + 1, BLOCKS);
        status = tool_sampler_run(&r->sampler, s->options->seconds / BLOCKS);
        note_memory(r, block + 1);
    }
    return status;
}

/* Statistics of the samples, which stay in order until tool_sampler_stats. */
static collet_status reduce(run *r)
{
    const tool_sampler *s = &r->sampler;
    double *copy = malloc((size_t)s->count * sizeof *copy);
    if (!copy)
        return COLLET_NO_MEMORY;
    for (int32_t block = 0; block < BLOCKS; block++) {
        int64_t from = s->count * block / BLOCKS, upto = s->count * (block + 1) / BLOCKS;
        tool_stats stats;
        memcpy(copy, s->seconds + from, (size_t)(upto - from) * sizeof *copy);
        tool_stats_of(copy, upto - from, s->calls, &stats);
        r->medians[block] = stats.median;
        r->low = !block || stats.median < r->low ? stats.median : r->low;
        r->high = stats.median > r->high ? stats.median : r->high;
    }
    free(copy);
    double jitter = study_jitter(s->seconds, s->count, (double)s->calls);
    tool_sampler_stats(&r->sampler, &r->stats);
    r->jitter = jitter / r->stats.median;
    return COLLET_OK;
}

/* 1 if memory leaks. */
static int32_t add_row(bench_table *table, const bench_layout *l, const run *r)
{
    char shape[BENCH_SHAPE_TEXT];
    const tool_stats *s = &r->stats;
    int32_t leaks = study_leaks(r->bytes[ARRAYS], BLOCKS + 1, 0) ||
                    study_leaks(r->bytes[DEVICE], BLOCKS + 1, 0) ||
                    study_leaks(r->bytes[RESIDENT], BLOCKS + 1, LEAK_RESIDENT);
    double grown[SPACES];
    for (int i = 0; i < SPACES; i++)
        grown[i] = r->bytes[i][BLOCKS] - r->bytes[i][0];
    bench_table_add(table, (const bench_cell[]){
                               {r->choice, 0},
                               {l->row->name, 0},
                               {l->signature, 0},
                               {study_shape(l, shape), 0},
                               {NULL, (double)(s->samples * s->calls_per_sample)},
                               {NULL, s->median},
                               {NULL, s->mean},
                               {NULL, s->std},
                               {NULL, s->p95},
                               {NULL, s->p99},
                               {NULL, s->max},
                               {NULL, r->low},
                               {NULL, r->high},
                               {NULL, study_drift(r->medians, BLOCKS)},
                               {NULL, r->jitter},
                               {NULL, grown[ARRAYS]},
                               {NULL, grown[DEVICE]},
                               {NULL, grown[RESIDENT]},
                               {study_drifts(r->medians, BLOCKS) ? "drifts" : "steady", 0},
                               {leaks ? "leaks" : "no leak", 0},
                           });
    return leaks;
}

static int measure(bench_table *table, const bench_layout *l, const bench_arrays *arrays,
                   const char *choice)
{
    bench_session *s = table->session;
    bench_calls calls;
    char error[COLLET_ERROR_TEXT] = "out of memory";
    run r = {.session = s, .choice = choice};
    int leaks = 0;
    collet_status status = bench_calls_open(&calls, s, l, arrays, choice, error);
    if (status == COLLET_OK)
        status = tool_sampler_create(&r.sampler, bench_calls_run, &calls);
    if (status == COLLET_OK && (status = sample(&r)) != COLLET_OK)
        snprintf(error, sizeof error, "%s", collet_last_error(s->context));
    if (status == COLLET_OK)
        status = reduce(&r);
    tool_progress_end(&s->progress);
    if (status == COLLET_OK)
        leaks = add_row(table, l, &r);
    tool_sampler_clear(&r.sampler);
    if (status != COLLET_OK)
        return bench_complain(status, error);
    if (leaks)
        return bench_complain(COLLET_FAILED, "memory grew during the calls");
    return BENCH_EXIT_OK;
}

static int measure_dtype(bench_table *table, const bench_layout *l)
{
    bench_session *s = table->session;
    bench_arrays arrays;
    int result = BENCH_EXIT_OK;
    collet_set_fallback(s->context, 1); /* to fill the inputs */
    collet_set_backend(s->context, s->choices[0]);
    collet_status status = bench_arrays_create(&arrays, s->context, l);
    collet_set_fallback(s->context, 0);
    if (status != COLLET_OK)
        result = bench_complain(COLLET_NO_MEMORY, collet_last_error(s->context));
    for (int32_t i = 0; i < s->choice_count && status == COLLET_OK; i++) {
        int failed = measure(table, l, &arrays, s->choices[i]);
        result = failed ? failed : result;
    }
    bench_arrays_free(&arrays);
    return result;
}

static int run_mode(bench_session *s)
{
    return study_each_dtype(s, columns, COLUMNS, measure_dtype);
}

const bench_mode bench_mode_trajectory = {
    .name = "trajectory",
    .summary = "measure an op over a long run: drift, jitter, leaks",
    .takes_op = 1,
    .has_table = 1,
    .run = run_mode,
};
