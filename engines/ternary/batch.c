/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_ternary_devices.c, tests/engines/test_ternary_files.c */
#include "ternary/batch.h"

#include <stdlib.h>
#include <time.h>

#include <collet/ops/array.h>

#define AT_A_TIME ((int64_t)1 << 20) /* maximum number of elements of x, or of the widest layer, at a time */

enum { RAW, X, Y, ARRAYS };

/* The objects that one device uses. */
typedef struct lane {
    const ternary_batch *batch;
    ternary_call call;               /* a call in the device's context; gets the errors of the context */
    collet_ternary_network *network; /* a copy; for the call's own context the network itself */
    collet_array *arrays[ARRAYS];    /* allocated for the number of vectors of the last part */
    float *y;
    double seconds;
} lane;

typedef struct lanes {
    int64_t count, most;
    devices_list list; /* empty: the call's context */
    lane lane[];
} lanes;

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* ---- One device ------------------------------------------------------------------------------ */

static void free_arrays(lane *l)
{
    for (int i = 0; i < ARRAYS; i++) {
        collet_array_destroy(l->arrays[i]);
        l->arrays[i] = NULL;
    }
}

/* Creates arrays for `vectors` vectors, unless they exist: most parts have the same size. */
static collet_status make_arrays(lane *l, int64_t vectors)
{
    const ternary_batch *batch = l->batch;
    collet_array **a = l->arrays;

    if (a[Y] && collet_array_shape(a[Y])[0] == vectors)
        return COLLET_OK;
    const int64_t inputs = collet_ternary_network_inputs(batch->network);
    const int64_t columns[ARRAYS] = {inputs, inputs,
                                     collet_ternary_network_outputs(batch->network)};
    const collet_dtype dtypes[ARRAYS] = {batch->dtype, COLLET_F32, COLLET_F32};
    collet_status status = COLLET_OK;
    free_arrays(l);
    for (int i = 0; i < ARRAYS && status == COLLET_OK; i++)
        status = collet_array_create(l->call.context, &a[i], dtypes[i], 2,
                                     (const int64_t[]){vectors, columns[i]});
    return status;
}

static collet_status read_vectors(lane *l, int64_t first, int64_t count)
{
    collet_context *context = l->call.context;
    void *raw;

    collet_status status = collet_array_acquire(context, l->arrays[RAW], &raw, COLLET_WRITE);
    if (status != COLLET_OK)
        return status;
    l->batch->read(l->batch->user, first, count, raw);
    return collet_array_release(context, l->arrays[RAW]);
}

/* Computes y of `count` vectors, on the device. */
static collet_status compute(lane *l, int64_t first, int64_t count)
{
    collet_context *context = l->call.context;
    collet_array **a = l->arrays;

    collet_status status = make_arrays(l, count);
    if (status == COLLET_OK)
        status = read_vectors(l, first, count);
    if (status == COLLET_OK)
        status = collet_op_copy(context, a[X], a[RAW]);
    if (status == COLLET_OK)
        status = collet_finish(context);
    double began = now();
    if (status == COLLET_OK)
        status = collet_ternary_network_run(context, l->network, a[Y], a[X], &l->call.error);
    if (status == COLLET_OK)
        status = collet_finish(context);
    l->seconds += now() - began;
    return status;
}

static collet_status read_results(lane *l, int64_t count)
{
    size_t outputs = (size_t)collet_ternary_network_outputs(l->batch->network);

    return collet_array_read(l->call.context, l->arrays[Y], l->y,
                             (size_t)count * outputs * sizeof *l->y);
}

/* ---- Opening --------------------------------------------------------------------------------- */

static collet_status open_lane(const ternary_batch *batch, lane *l, collet_context *context,
                               int64_t most)
{
    size_t outputs = (size_t)collet_ternary_network_outputs(batch->network);

    *l = (lane){.batch = batch, .y = malloc((size_t)most * outputs * sizeof *l->y + 1)};
    ternary_call_begin(&l->call, context, NULL);
    if (!l->y)
        return collet_fail(&batch->call->error, COLLET_NO_MEMORY, "out of memory for %lld vectors",
                           (long long)most);
    if (context == batch->call->context) {
        l->network = batch->network;
        return COLLET_OK;
    }
    return ternary_network_copy(batch->call, &l->network, batch->network);
}

static void close_lanes(lanes *all)
{
    for (int64_t i = 0; all && i < all->count; i++) {
        lane *l = &all->lane[i];
        free_arrays(l);
        free(l->y);
        if (l->batch && l->network != l->batch->network)
            collet_ternary_network_destroy(l->network);
    }
    if (all)
        devices_close(&all->list);
    free(all);
}

/* With several devices there are at least two parts for each, because devices may differ in speed. */
static int64_t vectors_at_a_time(const ternary_batch *batch, int64_t devices)
{
    int64_t most = AT_A_TIME / ternary_network_widest(batch->network);
    int64_t fair = devices > 1 ? (batch->vectors + 2 * devices - 1) / (2 * devices) : most;

    most = most < batch->vectors ? most : batch->vectors;
    most = most < fair ? most : fair;
    return most < 1 ? 1 : most;
}

static collet_status open_lanes(const ternary_batch *batch, lanes **out)
{
    collet_context *own = batch->call->context;
    devices_list list = {.count = 1, .contexts = &own};
    collet_status status = COLLET_OK;

    *out = NULL;
    devices_shares_clear(ternary_network_shares(batch->network));
    if (batch->devices)
        status =
            devices_open(&list, batch->devices, collet_context_runtime(own), &batch->call->error);
    if (status != COLLET_OK)
        return status;
    lanes *all = *out = calloc(1, sizeof *all + (size_t)list.count * sizeof *all->lane);
    if (!all) {
        if (batch->devices)
            devices_close(&list);
        return collet_fail(&batch->call->error, COLLET_NO_MEMORY, "out of memory for devices");
    }
    if (batch->devices)
        all->list = list;
    all->count = list.count;
    all->most = vectors_at_a_time(batch, all->count);
    for (int64_t i = 0; i < all->count && status == COLLET_OK; i++)
        status = open_lane(batch, &all->lane[i], list.contexts[i], all->most);
    return status;
}

/* ---- Running --------------------------------------------------------------------------------- */

static collet_status take(ternary_batch *batch, const lane *l, int64_t first, int64_t count)
{
    collet_status status = batch->take(batch->user, first, count, l->y);

    return status == COLLET_OK ? ternary_call_advance(batch->call, count) : status;
}

static collet_status run_alone(ternary_batch *batch, lanes *all)
{
    lane *l = &all->lane[0];
    collet_status status = COLLET_OK;

    for (int64_t first = 0, count; first < batch->vectors && status == COLLET_OK; first += count) {
        count = batch->vectors - first < all->most ? batch->vectors - first : all->most;
        status = compute(l, first, count);
        if (status == COLLET_OK)
            status = read_results(l, count);
        if (status == COLLET_OK)
            status = take(batch, l, first, count);
    }
    /* If batch->take failed, the call already has its error. */
    return batch->call->error.status == COLLET_OK
               ? ternary_call_end(&l->call, status, &batch->call->error)
               : status;
}

/* Sets *err to the device's error, with the device's name. */
static collet_status end_part(const lane *l, collet_status status, collet_error *err)
{
    collet_error own;

    if (status == COLLET_OK)
        return status;
    ternary_call_end(&l->call, status, &own);
    return collet_fail(err, status, "%s: %s", collet_get_backend(l->call.context), own.text);
}

static collet_status compute_part(void *user, int64_t device, int64_t first, int64_t *count,
                                  collet_error *err)
{
    lane *l = &((lanes *)user)->lane[device];

    return end_part(l, compute(l, first, *count), err);
}

static collet_status read_part(void *user, int64_t device, int64_t first, int64_t count,
                               collet_error *err)
{
    lane *l = &((lanes *)user)->lane[device];

    (void)first;
    return end_part(l, read_results(l, count), err);
}

static collet_status keep_share(const ternary_batch *batch, const collet_device_share *share)
{
    return devices_shares_add(ternary_network_shares(batch->network), share)
               ? COLLET_OK
               : collet_fail(&batch->call->error, COLLET_NO_MEMORY, "out of memory for devices");
}

/* Keeps the devices' shares of the work, even if the run has failed. Returns `status`, or the error of this
 * function. */
static collet_status keep_shares(const ternary_batch *batch, devices_job *job, collet_status status)
{
    collet_device_share share = {.struct_size = sizeof share};

    for (size_t i = 0; devices_share_at(job, &share, i) == COLLET_OK; i++)
        if (keep_share(batch, &share) != COLLET_OK && status == COLLET_OK)
            status = COLLET_NO_MEMORY;
    return status;
}

static collet_status run_shared(ternary_batch *batch, lanes *all, devices_job *job)
{
    collet_error *err = &batch->call->error;
    int64_t device, first, count;
    collet_status status;

    do {
        status = devices_next(job, all->most, &device, &first, &count, err);
        if (status == COLLET_OK && count)
            status = take(batch, &all->lane[device], first, count);
        else if (status == COLLET_OK)
            break;
    } while (status == COLLET_OK);
    return status;
}

static collet_status share_all(ternary_batch *batch, lanes *all)
{
    const devices_work work = {.n_devices = all->count,
                               .contexts = all->list.contexts,
                               .count = batch->vectors,
                               .most = all->most,
                               .depth = 1,
                               .user = all,
                               .compute = compute_part,
                               .read = read_part};
    devices_job *job;
    collet_status status = devices_create(&job, &work, &batch->call->error);

    if (status != COLLET_OK)
        return status;
    status = run_shared(batch, all, job);
    devices_stop(job);
    status = keep_shares(batch, job, status);
    devices_destroy(job);
    return status;
}

collet_status ternary_batch_run(ternary_batch *batch)
{
    lanes *all;
    collet_status status = open_lanes(batch, &all);

    if (status == COLLET_OK)
        status = batch->devices ? share_all(batch, all) : run_alone(batch, all);
    for (int64_t i = 0; all && i < all->count; i++)
        if (all->lane[i].seconds > batch->seconds)
            batch->seconds = all->lane[i].seconds;
    close_lanes(all);
    return status;
}

/* ---- Planning -------------------------------------------------------------------------------- */

/* Runs twice and measures the second run: the first may compile kernels and move the network. */
static collet_status measure(lane *l, int64_t count)
{
    collet_status status = COLLET_OK;
    double began = 0;

    for (int time = 0; time < 2 && status == COLLET_OK; time++) {
        began = now();
        status = compute(l, 0, count);
        if (status == COLLET_OK)
            status = read_results(l, count);
    }
    const collet_device_share share = {.struct_size = sizeof share,
                                       .device = collet_get_backend(l->call.context),
                                       .done = count,
                                       .seconds = now() - began};
    return status == COLLET_OK ? keep_share(l->batch, &share)
                               : end_part(l, status, &l->batch->call->error);
}

collet_status ternary_batch_plan(ternary_batch *batch, collet_ternary_run_plan *plan)
{
    const collet_ternary_network *n = batch->network;
    uint64_t inputs = (uint64_t)collet_ternary_network_inputs(n);
    uint64_t numbers = inputs + (uint64_t)collet_ternary_network_outputs(n) +
                       2 * (uint64_t)ternary_network_widest(n);
    lanes *all;
    collet_status status = open_lanes(batch, &all);

    if (status == COLLET_OK) {
        plan->vectors = batch->vectors;
        plan->at_a_time = all->most;
        plan->bytes = ternary_network_bytes(n) +
                      (uint64_t)all->most *
                          (inputs * collet_dtype_size(batch->dtype) + numbers * sizeof(float));
    }
    for (int64_t i = 0; all && i < all->count && batch->vectors && status == COLLET_OK; i++)
        status = measure(&all->lane[i], all->most);
    close_lanes(all);
    return status;
}
