/* SPDX-License-Identifier: Apache-2.0 */
/* backend-bench sweep: from which size on is which backend the fastest.
 * Tests: tests/tools/test_bench_studies.c */
#include "bench/base/modes.h"
#include "common/json_add.h"
#include "study.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SMALLEST 10.0 /* product of the extents */
#define POINTS_EACH 2 /* a power of ten */

static const bench_column columns[] = {
    {"shape", "shape", BENCH_KEY},
    {"backend", "backend", BENCH_KEY},
    {"op", NULL, BENCH_KEY},
    {"signature", NULL, BENCH_KEY},
    {"size", "size", BENCH_VALUE},
    {"median", "median", BENCH_TIME},
    {"mean", NULL, BENCH_TIME},
    {"std", NULL, BENCH_TIME},
    {"min", NULL, BENCH_TIME},
    {"p95", "p95", BENCH_TIME},
    {"p99", "p99", BENCH_TIME},
    {"low", NULL, BENCH_TIME},
    {"high", NULL, BENCH_TIME},
    {"rate", "GF|GB/s", BENCH_VALUE},
    {"to_fastest", "/fastest", BENCH_VALUE},
};
#define COLUMNS ((int32_t)(sizeof columns / sizeof *columns))

/* The last point, to find where another backend becomes the fastest. */
typedef struct point {
    double size;
    double *medians; /* by choice; NaN: not measured */
    int32_t best;    /* -1: none */
    char shape[BENCH_SHAPE_TEXT];
} point;

typedef struct sweep {
    bench_session *session;
    bench_table table;
    bench_turn *turns;
    point last, now;
    cJSON *crossovers; /* or NULL */
    int result;
} sweep;

/* The shape whose extents have the product `size`, in the proportions of `largest`. */
static const char *shape_of(const bench_shape *largest, double size, char text[BENCH_SHAPE_TEXT])
{
    bench_shape s = *largest;
    double product = 1;
    for (int32_t i = 0; i < s.count; i++)
        product *= (double)s.extents[i];
    double scale = pow(size / product, 1.0 / s.count);
    for (int32_t i = 0; i < s.count; i++) {
        s.extents[i] = (int64_t)llround(scale * (double)s.extents[i]);
        s.extents[i] = s.extents[i] < 1 ? 1 : s.extents[i];
    }
    return bench_shape_text(s.count, s.extents, text);
}

/* Between two sizes the logarithms of the times are taken as linear in that of the size. */
static double crossing(const point *a, const point *b)
{
    double before = log(a->medians[b->best] / a->medians[a->best]);
    double after = log(b->medians[a->best] / b->medians[b->best]);
    double at = before + after > 0 ? before / (before + after) : 0;
    return a->size * pow(b->size / a->size, at);
}

static void note_crossover(sweep *w, const char *signature)
{
    const point *a = &w->last, *b = &w->now;
    if (a->best < 0 || b->best < 0 || a->best == b->best || isnan(a->medians[b->best]) ||
        isnan(b->medians[a->best]))
        return;
    double size = crossing(a, b);
    const char *from = w->session->choices[a->best], *to = w->session->choices[b->best];
    if (!w->crossovers) {
        fprintf(w->session->options->csv ? stderr : stdout,
                "%s: from about %.3g elements on (%s to %s), %s is faster than %s\n", signature,
                size, a->shape, b->shape, to, from);
        return;
    }
    cJSON *row = json_append_object(w->crossovers);
    w->table.out_of_memory |=
        !row || !json_add_text(row, "signature", signature) || !json_add_text(row, "from", from) ||
        !json_add_text(row, "to", to) || !json_add_number(row, "size", size) ||
        !json_add_text(row, "below", a->shape) || !json_add_text(row, "above", b->shape);
}

static void add_rows(sweep *w, const bench_layout *l)
{
    point *p = &w->now;
    p->best = -1;
    for (int32_t i = 0; i < w->session->choice_count; i++) {
        const bench_turn *t = &w->turns[i];
        p->medians[i] = t->status == COLLET_OK ? t->stats.median : NAN;
        if (t->status != COLLET_OK) {
            w->result = BENCH_EXIT_FAILURE;
            bench_complain(t->status, t->error);
        } else if (p->best < 0 || p->medians[i] < p->medians[p->best]) {
            p->best = i;
        }
    }
    for (int32_t i = 0; i < w->session->choice_count; i++) {
        const tool_stats *s = &w->turns[i].stats;
        if (w->turns[i].status != COLLET_OK)
            continue;
        bench_table_add(&w->table, (const bench_cell[]){{p->shape, 0},
                                                        {w->turns[i].choice, 0},
                                                        {l->row->name, 0},
                                                        {l->signature, 0},
                                                        {NULL, p->size},
                                                        {NULL, s->median},
                                                        {NULL, s->mean},
                                                        {NULL, s->std},
                                                        {NULL, s->min},
                                                        {NULL, s->p95},
                                                        {NULL, s->p99},
                                                        {NULL, w->turns[i].low},
                                                        {NULL, w->turns[i].high},
                                                        {NULL, study_rate(l, s->median)},
                                                        {NULL, s->median / p->medians[p->best]}});
    }
    note_crossover(w, l->signature);
}

static void measure_size(sweep *w, const bench_case *row, const char *dtype, const char *shape)
{
    bench_session *s = w->session;
    bench_options options = *s->options;
    bench_layout layout;
    collet_error err;
    options.shape = shape;
    collet_status status = bench_layout_make(&layout, s->runtime, row, &options, dtype, &err);
    if (status == COLLET_OK) {
        status = bench_turns_measure(s, &layout, w->turns, s->choice_count, options.seconds);
        if (status != COLLET_OK)
            collet_fail(&err, status, "%s", collet_last_error(s->context));
    }
    if (status != COLLET_OK) {
        w->result = bench_complain(COLLET_FAILED, err.text);
        return;
    }
    w->now.size = 1;
    for (int32_t i = 0; i < layout.shape.count; i++)
        w->now.size *= (double)layout.shape.extents[i];
    snprintf(w->now.shape, sizeof w->now.shape, "%s", shape);
    add_rows(w, &layout);
    point before = w->last;
    w->last = w->now;
    w->now.medians = before.medians;
}

static void sweep_dtype(sweep *w, const bench_case *row, const bench_layout *largest,
                        const char *dtype)
{
    double product = 1;
    char text[BENCH_SHAPE_TEXT], before[BENCH_SHAPE_TEXT] = "";
    for (int32_t i = 0; i < largest->shape.count; i++)
        product *= (double)largest->shape.extents[i];
    int steps = (int)floor(POINTS_EACH * log10(product / SMALLEST) + 1e-9);
    w->last.best = -1;
    for (int step = steps > 0 ? steps : 0; step >= 0 && !w->table.out_of_memory; step--) {
        shape_of(&largest->shape, product / pow(10, (double)step / POINTS_EACH), text);
        if (strcmp(text, before) != 0)
            measure_size(w, row, dtype, text);
        strcpy(before, text);
    }
}

static int run_mode(bench_session *s)
{
    bench_case row;
    bench_layout layout;
    collet_error err;
    sweep w = {.session = s, .result = BENCH_EXIT_OK};
    collet_status status = study_case(s, &row, &err);
    for (int32_t i = 0; i < study_dtypes(s) && status == COLLET_OK; i++)
        status = bench_layout_make(&layout, s->runtime, &row, s->options, study_dtype(s, i), &err);
    if (status != COLLET_OK)
        return bench_complain(status, err.text);
    status = bench_table_open(&w.table, s, columns, COLUMNS, &err);
    if (status != COLLET_OK)
        return bench_complain(status, err.text);
    w.turns = study_turns(s);
    w.last.medians = calloc((size_t)s->choice_count, sizeof(double));
    w.now.medians = calloc((size_t)s->choice_count, sizeof(double));
    if (s->report)
        w.crossovers = cJSON_AddArrayToObject(s->report, "crossovers");
    w.table.out_of_memory =
        !w.turns || !w.last.medians || !w.now.medians || (s->report && !w.crossovers);
    for (int32_t i = 0; i < study_dtypes(s) && !w.table.out_of_memory; i++) {
        bench_layout_make(&layout, s->runtime, &row, s->options, study_dtype(s, i), &err);
        sweep_dtype(&w, &row, &layout, study_dtype(s, i));
    }
    free(w.turns);
    free(w.last.medians);
    free(w.now.medians);
    return bench_table_close(&w.table, w.result);
}

const bench_mode bench_mode_sweep = {
    .name = "sweep",
    .summary = "measure an op at many sizes, and which backend is the fastest",
    .takes_op = 1,
    .has_table = 1,
    .run = run_mode,
};
