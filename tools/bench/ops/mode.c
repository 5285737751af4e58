/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/test_bench.c */
#include "mode.h"
#include "report.h"

#include "common/json_add.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- Rows -------------------------------------------------------------------------------- */

typedef struct op_job {
    bench_session *session;
    bench_floor floor;
    cJSON *list;
    int result;
} op_job;

static int32_t keep_row(op_job *job, const bench_result *r)
{
    if (r->status != COLLET_OK) {
        bench_complain(r->status, r->error);
        job->result = TOOL_EXIT_FAILURE;
    }
    if (job->list)
        return bench_result_add(job->list, r);
    bench_result_print(r, job->session->options->steal);
    fflush(stdout); /* finished rows are visible even if the program is then stopped */
    return 1;
}

/* Measures one dtype on all backends. 0 when out of memory for the report. */
static int32_t measure_dtype(op_job *job, const bench_layout *l)
{
    bench_session *s = job->session;
    bench_arrays arrays;
    bench_result *results = calloc((size_t)s->choice_count, sizeof *results);
    int32_t fine = results != NULL;

    bench_session_show(s, "%s %s: inputs", l->row->name, l->signature);
    collet_set_fallback(s->context, 1);
    collet_status status = collet_set_backend(s->context, s->choices[0]);
    if (status == COLLET_OK)
        status = bench_arrays_create(&arrays, s->context, l);
    if (status != COLLET_OK) {
        bench_arrays_free(&arrays);
        free(results);
        tool_progress_end(&s->progress);
        job->result = bench_complain(COLLET_NO_MEMORY, collet_last_error(s->context));
        return 1;
    }
    fine = fine && bench_measure(s, l, &arrays, &job->floor, results) == COLLET_OK;
    tool_progress_end(&s->progress);
    if (fine && !s->report)
        bench_result_print_head(s, l);
    for (int32_t i = 0; i < s->choice_count && fine; i++) {
        if (results[0].status == COLLET_OK && results[i].status == COLLET_OK)
            results[i].ratio = results[0].stats.median / results[i].stats.median;
        fine = keep_row(job, &results[i]);
    }
    bench_arrays_free(&arrays);
    free(results);
    return fine;
}

static int32_t report_head(bench_session *s, const bench_layout *l)
{
    double extents[BENCH_EXTENTS_MAX];
    for (int32_t i = 0; i < l->shape.count; i++)
        extents[i] = (double)l->shape.extents[i];
    return json_add_text(s->report, "op", l->op.name) &&
           json_add_text(s->report, "case", l->row->name) &&
           json_add_text(s->report, "extents", l->row->extents) &&
           json_add_item(s->report, "shape", cJSON_CreateDoubleArray(extents, l->shape.count));
}

int bench_op_mode(bench_session *s)
{
    const bench_options *o = s->options;
    bench_case row;
    bench_layout layout;
    collet_error err;
    op_job job = {.session = s};
    int32_t count = o->dtype_count ? o->dtype_count : 1, fine = 1;
    collet_status status = bench_case_find(s->runtime, o->what, &row, &err);

    for (int32_t i = 0; i < count && status == COLLET_OK; i++)
        status = bench_layout_make(&layout, s->runtime, &row, o,
                                   o->dtype_count ? o->dtypes[i] : NULL, &err);
    if (status != COLLET_OK)
        return bench_complain(status, err.text);
    if (s->report)
        fine = report_head(s, &layout) &&
               (job.list = cJSON_AddArrayToObject(s->report, "results")) != NULL;
    for (int32_t i = 0; i < count && fine; i++) {
        bench_layout_make(&layout, s->runtime, &row, o, o->dtype_count ? o->dtypes[i] : NULL, &err);
        fine = measure_dtype(&job, &layout);
    }
    bench_bandwidth_close(&job.floor.bandwidth);
    return fine ? job.result : bench_out_of_memory();
}

/* ---- The list of cases ------------------------------------------------------------------- */

static int32_t add_case(cJSON *list, const bench_layout *l)
{
    const bench_case *row = l->row;
    const collet_ops_info *op = &l->op;
    cJSON *object = json_append_object(list);
    return object && json_add_text(object, "case", row->name) &&
           json_add_text(object, "op", op->name) && json_add_text(object, "family", op->family) &&
           json_add_text(object, "extents", row->extents) &&
           json_add_text(object, "shape", row->shape) &&
           json_add_text(object, "signatures", op->sigs) &&
           json_add_text(object, "bound", bench_bound(l->flops));
}

int bench_list_mode(bench_session *s)
{
    static const bench_options defaults;
    cJSON *list = s->report ? cJSON_AddArrayToObject(s->report, "cases") : NULL;
    if (s->report && !list)
        return bench_out_of_memory();
    if (!s->report)
        printf("%-22s %-10s %-10s %-16s %s\n", "case", "family", "shape is", "default",
               "signatures");
    bench_case row;
    for (size_t i = 0; bench_case_at(s->runtime, i, &row); i++) {
        bench_layout layout;
        collet_error err;
        if (bench_layout_make(&layout, s->runtime, &row, &defaults, NULL, &err) != COLLET_OK)
            return bench_complain(COLLET_FAILED, err.text);
        if (!s->report)
            printf("%-22s %-10s %-10s %-16s %s\n", row.name, layout.op.family, row.extents,
                   row.shape, layout.op.sigs);
        else if (!add_case(list, &layout))
            return bench_out_of_memory();
    }
    return TOOL_EXIT_OK;
}
