/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a network on the vectors of a file.
 * Tests: tests/engines/test_ternary_files.c, tests/tools/test_ternary_pack.c */
#include "io/spool.h"
#include "io/struct.h"
#include "ternary/network.h"
#include "ternary/output.h"
#include "ternary/source.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <collet/floating.h>
#include <collet/ops/array.h>

#define AT_A_TIME ((int64_t)1 << 20) /* numbers of x, or of the widest layer, at a time */

enum { RAW, X, Y, ARRAYS };

/* A run. The leading axes of x are joined into one axis of vectors, taken a few at a time. */
typedef struct run_job {
    ternary_call *call;
    const collet_ternary_run_files *files;
    collet_ternary_network *network;
    int64_t inputs, outputs, vectors;
    io_npy x, labels; /* a row of x is a vector; x has the shape of the file */
    collet_ternary_output *output;
    collet_array *arrays[ARRAYS]; /* RAW, X, Y, for the number of vectors of the last chunk */
    float *y;
    int64_t correct;
    double seconds;
} run_job;

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* ---- Opening --------------------------------------------------------------------------------- */

static collet_status check_x(run_job *job)
{
    io_npy *x = &job->x;

    if (x->ndim < 1 || x->shape[x->ndim - 1] != job->inputs)
        return collet_fail(&job->call->error, COLLET_SHAPE,
                           "%s: the last axis has %lld numbers, but the model needs %lld",
                           job->files->x, (long long)(x->ndim < 1 ? 1 : x->shape[x->ndim - 1]),
                           (long long)job->inputs);
    x->rows = x->ndim == 1 ? 1 : x->rows * (x->row_elements / job->inputs);
    x->row_elements = job->inputs;
    job->vectors = job->call->total = x->rows;
    return COLLET_OK;
}

static collet_status check_labels(run_job *job)
{
    const io_npy *l = &job->labels;
    const char *path = job->files->labels;

    if (l->dtype != COLLET_I8 && l->dtype != COLLET_U8 && l->dtype != COLLET_I32 &&
        l->dtype != COLLET_I64)
        return collet_fail(&job->call->error, COLLET_DTYPE,
                           "%s: the elements are %s; labels must be i1, u1, i4 or i8", path,
                           collet_dtype_name(l->dtype));
    if (l->ndim > 1 || l->rows != job->vectors)
        return collet_fail(&job->call->error, COLLET_SHAPE,
                           "%s: the array has %lld x %lld labels; it must have one axis of %lld",
                           path, (long long)l->rows, (long long)l->row_elements,
                           (long long)job->vectors);
    return COLLET_OK;
}

static collet_status open_output(run_job *job)
{
    const collet_ternary_run_files *files = job->files;
    collet_error *err = &job->call->error;
    int64_t shape[COLLET_MAX_DIMS];

    if (!files->y)
        return COLLET_OK;
    collet_status status = io_spool_check_input(files->y, files->model, err);
    if (status == COLLET_OK)
        status = io_spool_check_input(files->y, files->x, err);
    if (status == COLLET_OK)
        status = io_spool_check_input(files->y, files->labels, err);
    if (status != COLLET_OK)
        return status;
    memcpy(shape, job->x.shape, sizeof shape);
    shape[job->x.ndim - 1] = job->outputs;
    return ternary_output_npy(&job->output, files->y, COLLET_F32, -1, job->x.ndim, shape, err);
}

static collet_status open_all(run_job *job)
{
    const collet_ternary_run_files *files = job->files;

    collet_status status = io_npy_open(files->x, &job->x, &job->call->error);
    if (status == COLLET_OK && files->labels)
        status = io_npy_open(files->labels, &job->labels, &job->call->error);
    if (status == COLLET_OK)
        status = check_x(job);
    if (status == COLLET_OK && files->labels)
        status = check_labels(job);
    return status == COLLET_OK ? open_output(job) : status;
}

/* ---- Running --------------------------------------------------------------------------------- */

static void free_arrays(run_job *job)
{
    for (int i = 0; i < ARRAYS; i++) {
        collet_array_destroy(job->arrays[i]);
        job->arrays[i] = NULL;
    }
}

/* Makes arrays for `count` vectors, unless they exist: all chunks but the last have the same
 * size. */
static collet_status make_arrays(run_job *job, int64_t vectors)
{
    collet_array **a = job->arrays;

    if (a[Y] && collet_array_shape(a[Y])[0] == vectors)
        return COLLET_OK;
    const int64_t columns[ARRAYS] = {job->inputs, job->inputs, job->outputs};
    const collet_dtype dtypes[ARRAYS] = {job->x.dtype, COLLET_F32, COLLET_F32};
    collet_status status = COLLET_OK;
    free_arrays(job);
    for (int i = 0; i < ARRAYS && status == COLLET_OK; i++)
        status = collet_array_create(job->call->context, &a[i], dtypes[i], 2,
                                     (const int64_t[]){vectors, columns[i]});
    return status;
}

static collet_status read_vectors(run_job *job, int64_t first, int64_t count)
{
    collet_context *context = job->call->context;
    void *raw;

    collet_status status = collet_array_acquire(context, job->arrays[RAW], &raw, COLLET_WRITE);
    if (status != COLLET_OK)
        return status;
    io_npy_rows(&job->x, first, count, raw);
    io_npy_passed(&job->x, first, count);
    return collet_array_release(context, job->arrays[RAW]);
}

/* Computes y of `count` vectors. */
static collet_status compute(run_job *job, int64_t first, int64_t count)
{
    collet_context *context = job->call->context;
    collet_array **a = job->arrays;

    collet_status status = make_arrays(job, count);
    if (status == COLLET_OK)
        status = read_vectors(job, first, count);
    if (status == COLLET_OK)
        status = collet_op_copy(context, a[X], a[RAW]);
    if (status == COLLET_OK)
        status = collet_finish(context);
    double began = now();
    if (status == COLLET_OK)
        status = collet_ternary_network_run(context, job->network, a[Y], a[X], &job->call->error);
    if (status == COLLET_OK)
        status = collet_finish(context);
    job->seconds += now() - began;
    return status == COLLET_OK ? collet_array_read(context, a[Y], job->y,
                                                   (size_t)(count * job->outputs) * sizeof *job->y)
                               : status;
}

/* The index of the largest number; -1 if any number is NaN. */
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
        io_npy_rows(&job->labels, first + i, 1, &label);
        job->correct += largest(job->y + i * job->outputs, job->outputs) ==
                        (int64_t)ternary_number(job->labels.dtype, &label, 0);
    }
}

static collet_status run_vectors(run_job *job, int64_t first, int64_t count)
{
    collet_status status = compute(job, first, count);
    if (status != COLLET_OK)
        return status;
    if (job->files->labels)
        compare(job, first, count);
    if (job->output)
        status = ternary_output_add(job->output, job->y,
                                    (uint64_t)(count * job->outputs) * sizeof *job->y,
                                    &job->call->error);
    return status == COLLET_OK ? ternary_call_advance(job->call, count) : status;
}

static collet_status run_all(run_job *job)
{
    int64_t most = AT_A_TIME / ternary_network_widest(job->network);
    collet_status status = COLLET_OK;

    most = most < 1 ? 1 : most > job->vectors ? job->vectors : most;
    job->y = malloc((size_t)(most * job->outputs) * sizeof *job->y + 1);
    if (!job->y)
        return collet_fail(&job->call->error, COLLET_NO_MEMORY, "out of memory for %lld vectors",
                           (long long)most);
    for (int64_t first = 0; first < job->vectors && status == COLLET_OK; first += most)
        status = run_vectors(job, first, job->vectors - first < most ? job->vectors - first : most);
    return status;
}

static collet_status run_files(run_job *job, collet_ternary_output **out)
{
    collet_status status = open_all(job);
    if (status == COLLET_OK)
        status = run_all(job);
    free_arrays(job);
    free(job->y);
    io_npy_close(&job->x);
    io_npy_close(&job->labels);
    return ternary_output_end(out, job->output, status, &job->call->error);
}

collet_status
collet_ternary_network_run_files(collet_context *context, collet_ternary_network *network,
                                 collet_ternary_output **out, collet_ternary_run_result *result,
                                 const collet_ternary_run_files *files,
                                 const collet_ternary_monitor *monitor, collet_error *err)
{
    ternary_call call;
    COLLET_FLOATING_SCOPE;
    collet_ternary_run_files given = {0};

    if (!context || !network || !files || !out || !result)
        return collet_fail(err, COLLET_INVALID, "%s: an argument is NULL", __func__);
    collet_status status = io_struct_in(&given, sizeof given, files, __func__, err);
    if (status != COLLET_OK)
        return status;
    if (!given.x || given.reserved || result->struct_size < sizeof *result)
        return collet_fail(err, COLLET_INVALID, "%s: %s", __func__,
                           !given.x         ? "x is NULL"
                           : given.reserved ? "reserved must be 0"
                                            : "the struct_size of the result is too small");
    if (collet_ternary_network_inputs(network) < 1 || collet_ternary_network_outputs(network) < 1)
        return collet_fail(err, COLLET_INVALID, "%s: the network has no inputs or outputs",
                           __func__);
    run_job job = {.call = &call,
                   .files = &given,
                   .network = network,
                   .inputs = collet_ternary_network_inputs(network),
                   .outputs = collet_ternary_network_outputs(network)};
    ternary_call_begin(&call, context, monitor);
    status = run_files(&job, out);
    if (status == COLLET_OK) {
        const collet_ternary_run_result all = {
            .vectors = job.vectors, .correct = job.correct, .seconds = job.seconds};
        io_struct_out(result, &all, sizeof all);
    }
    return ternary_call_end(&call, status, err);
}
