/* SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"
#include "model.h"
#include "io/npy.h"
#include "io/npy_read.h"
#include "report.h"
#include "source.h"
#include "io/spool.h"

#include "common/json_add.h"
#include "common/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AT_A_TIME ((int64_t)1 << 20) /* numbers of X, or of what the widest layer makes of it */

enum { RAW, X, Y, ARRAYS };

/* X is taken as vectors of K numbers, whatever axes they are on, a few at a time. */
typedef struct run_job {
    const ternary_options *options;
    ternary_session session;
    ternary_model model;
    collet_npy x, labels; /* a row of x is a vector, its shape is that of the file */
    int64_t vectors;
    collet_spool *spool;          /* NULL: no output is wanted */
    collet_array *arrays[ARRAYS]; /* RAW, X, Y: of as many vectors as the last ones were */
    float *y;
    int64_t right;
    double seconds; /* of computing */
} run_job;

/* ---- Opening ------------------------------------------------------------------------------- */

static collet_status check_x(run_job *job, collet_error *err)
{
    const char *path = job->options->arguments[1];
    collet_npy *x = &job->x;

    if (x->ndim < 1 || x->shape[x->ndim - 1] != job->model.columns)
        return collet_fail(
            err, COLLET_SHAPE, "%s: its last axis has %lld numbers, the model takes %lld", path,
            (long long)(x->ndim < 1 ? 1 : x->shape[x->ndim - 1]), (long long)job->model.columns);
    x->rows = x->ndim == 1 ? 1 : x->rows * (x->row_elements / job->model.columns);
    x->row_elements = job->model.columns;
    job->vectors = x->rows;
    return COLLET_OK;
}

static collet_status check_labels(run_job *job, collet_error *err)
{
    const collet_npy *l = &job->labels;
    const char *path = job->options->labels;

    if (l->dtype != COLLET_I8 && l->dtype != COLLET_U8 && l->dtype != COLLET_I32 &&
        l->dtype != COLLET_I64)
        return collet_fail(err, COLLET_DTYPE, "%s: has elements of %s; labels are i1, u1, i4 or i8",
                           path, collet_dtype_name(l->dtype));
    if (l->ndim > 1 || l->rows != job->vectors)
        return collet_fail(err, COLLET_SHAPE,
                           "%s: has %lld x %lld labels; one axis of %lld is wanted", path,
                           (long long)l->rows, (long long)l->row_elements, (long long)job->vectors);
    return COLLET_OK;
}

static collet_status open_output(run_job *job, collet_error *err)
{
    const ternary_options *options = job->options;
    int64_t shape[COLLET_MAX_DIMS];
    char head[COLLET_NPY_HEAD];

    if (!options->output)
        return COLLET_OK;
    collet_status status = ternary_check_output(options->output, options->arguments[0], err);
    if (status == COLLET_OK)
        status = ternary_check_output(options->output, options->arguments[1], err);
    if (status == COLLET_OK)
        status = ternary_check_output(options->output, options->labels, err);
    if (status == COLLET_OK)
        status = collet_spool_create(options->output, COLLET_SPOOL_OUTPUT, &job->spool, err);
    if (status != COLLET_OK)
        return status;
    memcpy(shape, job->x.shape, sizeof shape);
    shape[job->x.ndim - 1] = job->model.rows;
    size_t length = collet_npy_head(head, COLLET_F32, -1, job->x.ndim, shape);
    return collet_spool_write(job->spool, head, length, err);
}

static collet_status open_all(run_job *job, collet_error *err)
{
    const ternary_options *options = job->options;
    const ternary_layer_options *said = &options->defaults;

    collet_status status = collet_npy_open(options->arguments[1], &job->x, err);
    if (status == COLLET_OK && options->labels)
        status = collet_npy_open(options->labels, &job->labels, err);
    if (status == COLLET_OK)
        status = ternary_session_open(&job->session, options, err);
    if (status == COLLET_OK)
        status = ternary_model_open(&job->session, options->arguments[0], said->activations,
                                    said->activations_threshold, &job->model, err);
    if (status == COLLET_OK)
        status = check_x(job, err);
    if (status == COLLET_OK && options->labels)
        status = check_labels(job, err);
    return status == COLLET_OK ? open_output(job, err) : status;
}

/* ---- Running ------------------------------------------------------------------------------- */

/* Arrays for so many vectors: all stretches but the last have as many, so that memory stays as it
 * is from one to the next. */
static collet_status make_arrays(run_job *job, int64_t vectors)
{
    ternary_session *session = &job->session;
    collet_array **a = job->arrays;
    int64_t columns = job->model.columns;

    if (a[Y] && collet_array_shape(a[Y])[0] == vectors)
        return COLLET_OK;
    ternary_arrays_free(a, ARRAYS);
    memset(a, 0, sizeof job->arrays);
    collet_status status = ternary_array_new(session, &a[RAW], job->x.dtype, vectors, columns);
    if (status == COLLET_OK)
        status = ternary_array_new(session, &a[X], COLLET_F32, vectors, columns);
    if (status == COLLET_OK)
        status = ternary_array_new(session, &a[Y], COLLET_F32, vectors, job->model.rows);
    return status;
}

static collet_status read_vectors(run_job *job, int64_t first, int64_t count)
{
    const collet_npy *x = &job->x;
    void *raw;

    collet_status status =
        collet_array_acquire(job->session.context, job->arrays[RAW], COLLET_WRITE, &raw);
    if (status != COLLET_OK)
        return status;
    collet_npy_rows(x, first, count, raw);
    collet_npy_passed(x, first, count);
    return collet_array_release(job->session.context, job->arrays[RAW]);
}

/* y of `count` vectors. */
static collet_status compute(run_job *job, int64_t first, int64_t count)
{
    collet_context *context = job->session.context;
    collet_array **a = job->arrays;

    collet_status status = make_arrays(job, count);
    if (status == COLLET_OK)
        status = read_vectors(job, first, count);
    if (status == COLLET_OK)
        status = collet_copy(context, a[X], a[RAW]);
    if (status == COLLET_OK)
        status = collet_finish(context);
    double began = tool_clock();
    if (status == COLLET_OK)
        status = collet_ternary_network_run(context, job->model.network, a[Y], a[X], NULL);
    if (status == COLLET_OK)
        status = collet_finish(context);
    job->seconds += tool_clock() - began;
    return status == COLLET_OK ? ternary_array_take(&job->session, a[Y], job->y) : status;
}

/* The largest number of a row; -1 where one is NaN. */
static int64_t largest(const float *y, int64_t count)
{
    int64_t best = 0;

    for (int64_t i = 0; i < count; i++) {
        if (y[i] != y[i])
            return -1;
        if (y[i] > y[best])
            best = i;
    }
    return best;
}

static void compare(run_job *job, int64_t first, int64_t vectors)
{
    for (int64_t i = 0; i < vectors; i++) {
        int64_t label;
        collet_npy_rows(&job->labels, first + i, 1, &label);
        job->right += largest(job->y + i * job->model.rows, job->model.rows) ==
                      (int64_t)ternary_number(job->labels.dtype, &label, 0);
    }
}

static collet_status run_vectors(run_job *job, int64_t first, int64_t count, collet_error *err)
{
    collet_status status = compute(job, first, count);
    if (status != COLLET_OK)
        return ternary_session_failed(&job->session, status, job->options->arguments[0], err);
    if (job->options->labels)
        compare(job, first, count);
    if (job->spool)
        status = collet_spool_write(job->spool, job->y,
                                    (size_t)(count * job->model.rows) * sizeof *job->y, err);
    return status == COLLET_OK ? ternary_check_signal(err) : status;
}

/* Vectors at a time: what goes in, what comes out and what is in between all have room. */
static int64_t vectors_at_a_time(const run_job *job)
{
    const collet_t2_file *file = &job->model.file;
    int64_t widest = job->model.columns, most;

    for (uint32_t i = 0; i < file->count; i++)
        if (file->layers[i].rows > widest)
            widest = file->layers[i].rows;
    most = AT_A_TIME / widest;
    return most < 1 ? 1 : most > job->vectors ? job->vectors : most;
}

static collet_status run_all(run_job *job, collet_error *err)
{
    int64_t most = vectors_at_a_time(job);
    tool_progress progress;
    collet_status status = COLLET_OK;

    job->y = malloc((size_t)(most * job->model.rows) * sizeof *job->y + 1);
    if (!job->y)
        return collet_fail(err, COLLET_NO_MEMORY, "out of memory for %lld vectors",
                           (long long)most);
    tool_progress_begin(&progress, "vectors", 0, job->options->quiet);
    for (int64_t first = 0; first < job->vectors && status == COLLET_OK; first += most) {
        int64_t count = job->vectors - first < most ? job->vectors - first : most;
        status = run_vectors(job, first, count, err);
        tool_progress_update(&progress, first + count, 0,
                             (double)(first + count) / (double)job->vectors);
    }
    tool_progress_end(&progress);
    return status;
}

/* ---- Saying -------------------------------------------------------------------------------- */

static cJSON *make_json(const run_job *job)
{
    double vectors = (double)job->vectors;
    cJSON *o = cJSON_CreateObject();

    if (o && json_add_number(o, "vectors", vectors) &&
        json_add_number(o, "inputs", (double)job->model.columns) &&
        json_add_number(o, "outputs", (double)job->model.rows) &&
        json_add_number(o, "seconds", job->seconds) &&
        json_add_text(o, "backend", collet_last_backend(job->session.context)) &&
        (!job->options->labels || (json_add_number(o, "right", (double)job->right) &&
                                   json_add_number(o, "accuracy", (double)job->right / vectors))))
        return o;
    cJSON_Delete(o);
    return NULL;
}

static void print_text(const run_job *job)
{
    int64_t vectors = job->vectors;

    if (job->options->quiet)
        return;
    printf("%lld vectors of %lld numbers to %lld, by %s in %.3f ms\n", (long long)vectors,
           (long long)job->model.columns, (long long)job->model.rows,
           collet_last_backend(job->session.context), 1e3 * job->seconds);
    if (job->options->labels && vectors > 0)
        printf("accuracy %.2f %%: %lld of %lld\n", 100 * (double)job->right / (double)vectors,
               (long long)job->right, (long long)vectors);
}

collet_status ternary_run(const ternary_options *options, collet_error *err)
{
    run_job job = {.options = options};

    collet_status status = open_all(&job, err);
    if (status == COLLET_OK)
        status = run_all(&job, err);
    if (status == COLLET_OK && job.spool)
        status = collet_spool_link(job.spool, err);
    if (status == COLLET_OK && options->json)
        status = ternary_print_json(make_json(&job), err);
    else if (status == COLLET_OK)
        print_text(&job);
    if (status == COLLET_OK)
        status = ternary_flush_said(err);
    if (status == COLLET_OK && job.spool)
        status = collet_spool_rename(job.spool, err);
    collet_spool_free(job.spool);
    ternary_arrays_free(job.arrays, ARRAYS);
    free(job.y);
    ternary_model_close(&job.model);
    ternary_session_close(&job.session);
    collet_npy_close(&job.x);
    collet_npy_close(&job.labels);
    return status;
}
