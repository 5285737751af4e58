/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a network on the vectors of a file.
 * Tests: tests/engines/test_ternary_files.c, tests/tools/test_ternary_pack.c */
#include "io/spool.h"
#include "io/struct.h"
#include "ternary/batch.h"
#include "ternary/output.h"
#include "ternary/source.h"

#include <stdlib.h>
#include <string.h>

#include <collet/floating.h>

/* A run. The leading axes of x are joined into one axis of vectors. */
typedef struct run_job {
    ternary_call *call;
    const collet_ternary_run_files *files;
    int64_t inputs, outputs, vectors;
    io_npy x, labels; /* arrays as in the files: a vector is a row of the last axis of x */
    collet_ternary_output *output;
    int64_t correct;
    ternary_batch batch;
} run_job;

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
                           "%s: the elements are %s; labels must be int8, uint8, int32 or int64",
                           path, collet_dtype_name(l->dtype));
    if (l->ndim > 1)
        return collet_fail(&job->call->error, COLLET_SHAPE,
                           "%s: the array has %lld x %lld labels; it must have one axis of %lld",
                           path, (long long)l->rows, (long long)l->row_elements,
                           (long long)job->vectors);
    if (l->rows != job->vectors)
        return collet_fail(&job->call->error, COLLET_SHAPE, "%s: there are %lld labels for %lld rows of inputs",
                           path, (long long)l->rows, (long long)job->vectors);
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

static void read_vectors(void *user, int64_t first, int64_t count, void *to)
{
    const run_job *job = user;

    io_npy_rows(&job->x, first, count, to);
    io_npy_passed(&job->x, first, count);
}

/* Returns the index of the largest number; -1 if any number is NaN. */
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

static void compare(run_job *job, int64_t first, int64_t vectors, const float *y)
{
    for (int64_t i = 0; i < vectors; i++) {
        int64_t label;
        io_npy_rows(&job->labels, first + i, 1, &label);
        job->correct += largest(y + i * job->outputs, job->outputs) ==
                        (int64_t)ternary_number(job->labels.dtype, &label, 0);
    }
}

static collet_status take_results(void *user, int64_t first, int64_t count, const float *y)
{
    run_job *job = user;

    if (job->files->labels)
        compare(job, first, count, y);
    return job->output
               ? ternary_output_add(job->output, y, (uint64_t)(count * job->outputs) * sizeof *y,
                                    &job->call->error)
               : COLLET_OK;
}

/* Opens the files, and runs them or fills the plan. */
static collet_status run_files(run_job *job, collet_ternary_network *network,
                               collet_ternary_output **out, collet_ternary_run_plan *plan)
{
    collet_status status = open_all(job);

    job->batch = (ternary_batch){.call = job->call,
                                 .network = network,
                                 .devices = job->files->devices,
                                 .vectors = job->vectors,
                                 .dtype = job->x.dtype,
                                 .user = job,
                                 .read = read_vectors,
                                 .take = take_results};
    if (status == COLLET_OK)
        status = plan ? ternary_batch_plan(&job->batch, plan) : ternary_batch_run(&job->batch);
    io_npy_close(&job->x);
    io_npy_close(&job->labels);
    return plan ? status : ternary_output_end(out, job->output, status, &job->call->error);
}

/* Checks the arguments of a run. */
static collet_status take_files(run_job *job, collet_ternary_run_files *own,
                                collet_ternary_network *network,
                                const collet_ternary_run_files *files, collet_error *err)
{
    collet_status status = io_struct_in(own, sizeof *own, files, "collet_ternary_run_files", err);

    if (status != COLLET_OK)
        return status;
    if (!own->x || own->reserved)
        return collet_fail(err, COLLET_INVALID, "collet_ternary_run_files: %s",
                           own->x ? "reserved must be 0" : "x is NULL");
    if (collet_ternary_network_inputs(network) < 1 || collet_ternary_network_outputs(network) < 1)
        return collet_fail(err, COLLET_INVALID, "the network has no inputs or outputs");
    job->files = own;
    job->inputs = collet_ternary_network_inputs(network);
    job->outputs = collet_ternary_network_outputs(network);
    return COLLET_OK;
}

collet_status
collet_ternary_network_run_files(collet_context *context, collet_ternary_network *network,
                                 collet_ternary_output **out, collet_ternary_run_result *result,
                                 const collet_ternary_run_files *files,
                                 const collet_ternary_monitor *monitor, collet_error *err)
{
    ternary_call call;
    COLLET_FLOATING_SCOPE;
    collet_ternary_run_files own = {0};
    run_job job = {.call = &call};

    if (!context || !network || !files || !out || !result)
        return collet_fail(err, COLLET_INVALID, "%s: an argument is NULL", __func__);
    if (result->struct_size < sizeof *result)
        return collet_fail(err, COLLET_INVALID, "%s: the struct_size of the result is too small",
                           __func__);
    collet_status status = take_files(&job, &own, network, files, err);
    if (status != COLLET_OK)
        return status;
    if (ternary_call_begin(&call, context, monitor) != COLLET_OK)
        return ternary_call_end(&call, COLLET_INVALID, err);
    status = run_files(&job, network, out, NULL);
    if (status == COLLET_OK) {
        const collet_ternary_run_result all = {
            .vectors = job.vectors, .correct = job.correct, .seconds = job.batch.seconds};
        io_struct_out(result, &all, sizeof all);
    }
    return ternary_call_end(&call, status, err);
}

collet_status collet_ternary_network_plan_files(collet_context *context,
                                                collet_ternary_network *network,
                                                collet_ternary_run_plan *plan,
                                                const collet_ternary_run_files *files,
                                                collet_error *err)
{
    ternary_call call;
    COLLET_FLOATING_SCOPE;
    collet_ternary_run_files own = {0};
    collet_ternary_run_plan found = {0};
    run_job job = {.call = &call};

    if (!context || !network || !files || !plan)
        return collet_fail(err, COLLET_INVALID, "%s: an argument is NULL", __func__);
    collet_status status = take_files(&job, &own, network, files, err);
    if (status != COLLET_OK)
        return status;
    own.y = NULL;
    ternary_call_begin(&call, context, NULL);
    status = run_files(&job, network, NULL, &found);
    io_struct_out(plan, &found, sizeof found);
    return ternary_call_end(&call, status, err);
}

/* ---- Vectors in memory ----------------------------------------------------------------------- */

typedef struct memory {
    const float *x;
    float *y;
    size_t inputs, outputs;
} memory;

static void copy_vectors(void *user, int64_t first, int64_t count, void *to)
{
    const memory *m = user;

    memcpy(to, m->x + (size_t)first * m->inputs, (size_t)count * m->inputs * sizeof *m->x);
}

static collet_status copy_results(void *user, int64_t first, int64_t count, const float *y)
{
    const memory *m = user;

    memcpy(m->y + (size_t)first * m->outputs, y, (size_t)count * m->outputs * sizeof *y);
    return COLLET_OK;
}

collet_status collet_ternary_network_run_vectors(collet_context *context,
                                                 collet_ternary_network *network, float *y,
                                                 const float *x, int64_t vectors,
                                                 const collet_devices *devices,
                                                 const collet_ternary_monitor *monitor,
                                                 collet_error *err)
{
    ternary_call call;
    COLLET_FLOATING_SCOPE;

    if (!context || !network || (vectors > 0 && (!x || !y)))
        return collet_fail(err, COLLET_INVALID, "%s: an argument is NULL", __func__);
    if (vectors < 0)
        return collet_fail(err, COLLET_INVALID, "%s: vectors is %lld; it must not be negative",
                           __func__, (long long)vectors);
    memory all = {.x = x,
                  .y = y,
                  .inputs = (size_t)collet_ternary_network_inputs(network),
                  .outputs = (size_t)collet_ternary_network_outputs(network)};
    ternary_batch batch = {.call = &call,
                           .network = network,
                           .devices = devices,
                           .vectors = vectors,
                           .dtype = COLLET_F32,
                           .user = &all,
                           .read = copy_vectors,
                           .take = copy_results};
    if (ternary_call_begin(&call, context, monitor) != COLLET_OK)
        return ternary_call_end(&call, COLLET_INVALID, err);
    call.total = vectors;
    return ternary_call_end(&call, ternary_batch_run(&batch), err);
}
