/* SPDX-License-Identifier: Apache-2.0 */
/* backend-bench roofline: ops as a share of what the memory's bandwidth and the peak of the
 * arithmetic allow (Williams, Waterman, Patterson, 2009). Both roofs are measured.
 * Tests: tests/tools/test_bench_studies.c */
#include "bench/bandwidth/bandwidth.h"
#include "bench/base/modes.h"
#include "common/json_add.h"
#include "study.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const bench_column columns[] = {
    {"backend", "backend", BENCH_KEY},    {"op", "op", BENCH_KEY},
    {"signature", NULL, BENCH_KEY},       {"shape", "shape", BENCH_KEY},
    {"median", "median", BENCH_TIME},     {"low", NULL, BENCH_TIME},
    {"high", NULL, BENCH_TIME},           {"intensity", "FLOP/B", BENCH_VALUE},
    {"gflop_per_s", "GF/s", BENCH_VALUE}, {"gb_per_s", "GB/s", BENCH_VALUE},
    {"bound", "bound", BENCH_TEXT},       {"roof", "roof", BENCH_VALUE},
    {"share", "of roof", BENCH_SHARE},
};
#define COLUMNS ((int32_t)(sizeof columns / sizeof *columns))

/* In 10^9 operations and bytes a second; NaN: not known. */
typedef struct roofs {
    double peak, bandwidth;
} roofs;

typedef struct roofline {
    bench_session *session;
    bench_table table;
    bench_turn *turns;
    roofs cpu;
    roofs *each; /* of each choice, for the dtype of the row */
    int result;
} roofline;

/* Whether a choice is a device that is a GPU; of a backend, its first device. */
static int is_gpu(const bench_session *s, const char *choice)
{
    const char *number = strchr(choice, ':');
    size_t length = number ? (size_t)(number - choice) : strlen(choice);
    uint32_t device = number ? (uint32_t)strtoul(number + 1, NULL, 10) : 0;
    for (size_t i = 0; i < collet_backend_count(s->runtime); i++) {
        collet_backend_info b = {.struct_size = sizeof b};
        collet_device_info d = {.struct_size = sizeof d};
        if (collet_backend_info_at(s->runtime, &b, i, NULL) == COLLET_OK &&
            strlen(b.name) == length && !strncmp(b.name, choice, length))
            return collet_device_info_at(s->runtime, &d, i, device, NULL) == COLLET_OK &&
                   d.kind == COLLET_DEVICE_GPU;
    }
    return 0;
}

/* Sets the rates of an op on `count` choices from `first` on; NaN: it has none. 0: its arrays do not
 * fit into memory. */
static int rates(roofline *r, const char *name, const char *shape, const char *dtype, int32_t first,
                 int32_t count, double *out)
{
    bench_session *s = r->session;
    bench_options options = *s->options;
    bench_case row;
    bench_layout l;
    collet_error err;
    options.shape = shape;
    options.axis = NULL;
    for (int32_t i = first; i < first + count; i++)
        out[i] = NAN;
    if (bench_case_find(s->runtime, name, &row, &err) != COLLET_OK ||
        bench_layout_make(&l, s->runtime, &row, &options, dtype, &err) != COLLET_OK ||
        bench_turns_measure(s, &l, r->turns + first, count, options.seconds) != COLLET_OK)
        return 0;
    for (int32_t i = first; i < first + count; i++)
        if (r->turns[i].status == COLLET_OK)
            out[i] = study_rate(&l, r->turns[i].stats.min);
    return 1;
}

static double cpu_bandwidth(bench_session *s)
{
    bench_bandwidth b;
    collet_error err;
    double best = NAN;
    if (bench_bandwidth_open(&b, &s->machine, 0, &err) != COLLET_OK)
        return best;
    for (stream_kind kind = 0; kind < STREAM_KINDS; kind++) {
        bench_session_show(s, "bandwidth: %s", bandwidth_kind_name(kind));
        bench_bandwidth_choose(&b, kind, s->options->seconds, NULL, NULL);
        best = fmax(best, 1e-9 * bandwidth_fastest(&b.best[kind]));
    }
    bench_bandwidth_close(&b);
    return best;
}

/* The CPU backends share one processor, so its peak is the fastest of them; a GPU is measured by
 * larger operands. */
static void find_roofs(roofline *r, const char *dtype, double *scratch)
{
    bench_session *s = r->session;
    r->cpu.peak = NAN;
    rates(r, "matmul", "512x512x512", dtype, 0, s->choice_count, scratch);
    for (int32_t i = 0; i < s->choice_count; i++) {
        r->each[i] = (roofs){scratch[i], NAN};
        if (!is_gpu(s, s->choices[i])) {
            r->cpu.peak = fmax(r->cpu.peak, scratch[i]);
            continue;
        }
        if (rates(r, "matmul", "4096x4096x4096", dtype, i, 1, scratch))
            r->each[i].peak = fmax(r->each[i].peak, scratch[i]);
        if (rates(r, "copy", "64M", "f32", i, 1, scratch))
            r->each[i].bandwidth = scratch[i];
    }
    for (int32_t i = 0; i < s->choice_count; i++)
        if (!is_gpu(s, s->choices[i]))
            r->each[i] = r->cpu;
}

static int note_roofs(roofline *r, const char *dtype)
{
    bench_session *s = r->session;
    cJSON *list = s->report ? cJSON_GetObjectItemCaseSensitive(s->report, "roofs") : NULL;
    for (int32_t i = 0; i < s->choice_count; i++) {
        const roofs *roof = &r->each[i];
        if (list) {
            cJSON *row = json_append_object(list);
            if (!row || !json_add_text(row, "backend", s->choices[i]) ||
                !json_add_text(row, "dtype", dtype ? dtype : "f32") ||
                !json_add_number(row, "gflop_per_s", roof->peak) ||
                !json_add_number(row, "gb_per_s", roof->bandwidth))
                return 0;
        } else {
            fprintf(s->options->csv ? stderr : stdout,
                    "%s %s: peak %.4g GF/s (matmul), bandwidth %.4g GB/s, ridge %.3g FLOP/B\n",
                    s->choices[i], dtype ? dtype : "f32", roof->peak, roof->bandwidth,
                    roof->peak / roof->bandwidth);
        }
    }
    return 1;
}

static void add_row(roofline *r, const bench_layout *l, const bench_turn *t, const roofs *roof)
{
    char shape[BENCH_SHAPE_TEXT];
    double bytes = l->bytes_read + l->bytes_written;
    double intensity = l->flops > 0 ? l->flops / bytes : NAN;
    double top = study_roof(intensity, roof->bandwidth, roof->peak);
    int memory = isnan(intensity) || top < roof->peak;
    double rate = study_rate(l, t->stats.median);
    bench_table_add(&r->table, (const bench_cell[]){
                                   {t->choice, 0},
                                   {l->row->name, 0},
                                   {l->signature, 0},
                                   {study_shape(l, shape), 0},
                                   {NULL, t->stats.median},
                                   {NULL, t->low},
                                   {NULL, t->high},
                                   {NULL, intensity},
                                   {NULL, l->flops > 0 ? rate : NAN},
                                   {NULL, 1e-9 * bytes / t->stats.median},
                                   {memory ? "memory" : "compute", 0},
                                   {NULL, top},
                                   {NULL, rate / top},
                               });
}

static void measure(roofline *r, const char *name, const char *dtype)
{
    bench_session *s = r->session;
    bench_case row;
    bench_layout l;
    collet_error err;
    collet_status status = bench_case_find(s->runtime, name, &row, &err);
    if (status == COLLET_OK)
        status = bench_layout_make(&l, s->runtime, &row, s->options, dtype, &err);
    if (status == COLLET_OK) {
        status = bench_turns_measure(s, &l, r->turns, s->choice_count, s->options->seconds);
        if (status != COLLET_OK)
            collet_fail(&err, COLLET_NO_MEMORY, "%s", collet_last_error(s->context));
    }
    if (status != COLLET_OK) {
        r->result = bench_complain(status, err.text);
        return;
    }
    for (int32_t i = 0; i < s->choice_count; i++) {
        if (r->turns[i].status == COLLET_OK)
            add_row(r, &l, &r->turns[i], &r->each[i]);
        else
            r->result = bench_complain(COLLET_FAILED, r->turns[i].error);
    }
}

static const char *const usual[] = {"add", "sum", "exp", "matvec", "matmul", "fft", "observables"};

static int run_mode(bench_session *s)
{
    const bench_options *o = s->options;
    const char *const *names = o->case_count ? o->cases : usual;
    int32_t count = o->case_count ? o->case_count : (int32_t)(sizeof usual / sizeof *usual);
    collet_error err;
    roofline r = {.session = s, .result = BENCH_EXIT_OK};
    for (int32_t i = 0; i < count; i++) {
        bench_case row;
        if (bench_case_find(s->runtime, names[i], &row, &err) != COLLET_OK)
            return bench_complain(COLLET_INVALID, err.text);
    }
    if (bench_table_open(&r.table, s, columns, COLUMNS, &err) != COLLET_OK)
        return bench_complain(err.status, err.text);
    double *scratch = calloc((size_t)s->choice_count, sizeof *scratch);
    r.turns = study_turns(s);
    r.each = calloc((size_t)s->choice_count, sizeof *r.each);
    r.table.out_of_memory = !scratch || !r.turns || !r.each ||
                            (s->report && !cJSON_AddArrayToObject(s->report, "roofs"));
    if (!r.table.out_of_memory)
        r.cpu.bandwidth = cpu_bandwidth(s);
    for (int32_t d = 0; d < study_dtypes(s) && !r.table.out_of_memory; d++) {
        find_roofs(&r, study_dtype(s, d), scratch);
        tool_progress_end(&s->progress);
        r.table.out_of_memory = !note_roofs(&r, study_dtype(s, d));
        for (int32_t i = 0; i < count && !r.table.out_of_memory; i++)
            measure(&r, names[i], study_dtype(s, d));
    }
    free(scratch);
    free(r.turns);
    free(r.each);
    return bench_table_close(&r.table, r.result);
}

const bench_mode bench_mode_roofline = {
    .name = "roofline",
    .summary = "measure ops as a share of bandwidth and peak",
    .takes_ops = 1,
    .has_table = 1,
    .run = run_mode,
};
