/* SPDX-License-Identifier: Apache-2.0 */
/* backend-bench compare: backends side by side, in turn.
 * Tests: tests/tools/test_bench_studies.c */
#include "bench/base/modes.h"
#include "study.h"

#include <math.h>
#include <stdlib.h>

static const bench_column columns[] = {
    {"backend", "backend", BENCH_KEY},
    {"op", NULL, BENCH_KEY},
    {"signature", NULL, BENCH_KEY},
    {"shape", NULL, BENCH_KEY},
    {"median", "median", BENCH_TIME},
    {"mean", "mean", BENCH_TIME},
    {"std", "std", BENCH_TIME},
    {"min", "min", BENCH_TIME},
    {"max", "max", BENCH_TIME},
    {"p95", "p95", BENCH_TIME},
    {"p99", "p99", BENCH_TIME},
    {"low", NULL, BENCH_TIME},
    {"high", NULL, BENCH_TIME},
    {"samples", NULL, BENCH_VALUE},
    {"calls_per_second", "calls/s", BENCH_VALUE},
    {"rate", "GF|GB/s", BENCH_VALUE},
    {"peak_device_bytes", NULL, BENCH_BYTES},
    {"peak_bytes", "peak mem", BENCH_BYTES},
    {"speedup", "speedup", BENCH_VALUE},
};
#define COLUMNS ((int32_t)(sizeof columns / sizeof *columns))

static void add_row(bench_table *table, const bench_layout *l, const bench_turn *t, double first)
{
    char shape[BENCH_SHAPE_TEXT];
    const tool_stats *s = &t->stats;
    const bench_cell cells[] = {
        {t->choice, 0},
        {l->row->name, 0},
        {l->signature, 0},
        {study_shape(l, shape), 0},
        {NULL, s->median},
        {NULL, s->mean},
        {NULL, s->std},
        {NULL, s->min},
        {NULL, s->max},
        {NULL, s->p95},
        {NULL, s->p99},
        {NULL, t->low},
        {NULL, t->high},
        {NULL, (double)s->samples},
        {NULL, 1 / s->median},
        {NULL, study_rate(l, s->median)},
        {NULL, t->peak_device},
        {NULL, t->peak_resident},
        {NULL, first / s->median},
    };
    bench_table_add(table, cells);
}

static int measure(bench_table *table, const bench_layout *l)
{
    bench_session *s = table->session;
    bench_turn *turns = study_turns(s);
    int result = BENCH_EXIT_OK;
    double first = NAN; /* the median of the first row */
    if (!turns)
        return bench_out_of_memory();
    collet_status status = bench_turns_measure(s, l, turns, s->choice_count, s->options->seconds);
    if (status != COLLET_OK)
        result = bench_complain(COLLET_NO_MEMORY, collet_last_error(s->context));
    for (int32_t i = 0; i < s->choice_count && status == COLLET_OK; i++) {
        if (turns[i].status != COLLET_OK) {
            bench_complain(turns[i].status, turns[i].error);
            result = BENCH_EXIT_FAILURE;
            continue;
        }
        first = isnan(first) ? turns[i].stats.median : first;
        add_row(table, l, &turns[i], first);
    }
    free(turns);
    return result;
}

static int run_mode(bench_session *s)
{
    return study_each_dtype(s, columns, COLUMNS, measure);
}

const bench_mode bench_mode_compare = {
    .name = "compare",
    .summary = "measure an op on several backends in turn",
    .takes_op = 1,
    .has_table = 1,
    .run = run_mode,
};
