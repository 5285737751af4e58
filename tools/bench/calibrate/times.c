/* SPDX-License-Identifier: Apache-2.0 */
/* Seconds of ops at growing sizes on each backend, in turn, and the rates of transfers.
 * Tests: tests/tools/test_bench_calibrate.c */
#include <collet/ops/array.h>

#include "arrays.h"
#include "bench/ops/inputs.h"
#include "calibrate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SMALLEST 10.0 /* smallest product of the extents */
#define LARGEST 1e7   /* largest product; for matmul, whose work is the product, LARGEST_PRODUCT */
#define LARGEST_PRODUCT 1e9
#define STEP 10.0
#define SLOWEST_ANY 16e-3 /* longest time of a call in seconds; longer calls are not measured */
#define ROUNDS 3          /* each round measures every backend; the fastest median counts */
#define BUDGET_MAX 20e-3
#define BUDGET_MIN 1e-3
#define SHARE_OF_MEMORY 0.25
/* Up to this many bytes, each backend with its own memory gets its own arrays, because it takes microseconds to keep
 * copies on several devices consistent. Backends on the host's memory share arrays, because the
 * address of an array alone can make a call twice as slow. */
#define APART 16e6

static const char *const dtypes[CALIBRATE_DTYPES] = {"f32", "f64"};

/* ---- One op ------------------------------------------------------------------------------ */

double calibrate_work(const bench_layout *l)
{
    double largest = 0;
    for (uint32_t i = 0; i < l->count; i++)
        if (l->operands[i].make != '-')
            largest = fmax(largest, (double)bench_operand_size(&l->operands[i]));
    if (strcmp(l->op.name, "matmul") != 0)
        return largest;
    const bench_operand *a = &l->operands[l->op.n_out];
    return (double)bench_operand_size(&l->operands[0]) * (double)a->shape[a->ndim - 1];
}

int32_t calibrate_layout(bench_layout *l, const bench_session *s, const bench_case *row,
                         const char *dtype, double size)
{
    char text[BENCH_SHAPE_TEXT];
    bench_shape shape;
    bench_options options = *s->options;
    collet_error err;
    double product = 1;
    if (!bench_shape_parse(row->shape, &shape))
        return 0;
    for (int32_t i = 0; i < shape.count; i++)
        product *= (double)shape.extents[i];
    for (int32_t i = 0; i < shape.count; i++)
        shape.extents[i] = (int64_t)fmax(
            1, round(pow(size / product, 1.0 / shape.count) * (double)shape.extents[i]));
    options.shape = bench_shape_text(shape.count, shape.extents, text);
    options.axis = NULL;
    return bench_layout_make(l, s->runtime, row, &options, dtype, &err) == COLLET_OK &&
           l->bytes_read + l->bytes_written < SHARE_OF_MEMORY * (double)s->machine.available_bytes;
}

/* Once. */
static collet_status make_arrays(bench_arrays *a, collet_context *context, const bench_layout *l)
{
    collet_status status = a->arrays[0] ? COLLET_OK : calibrate_arrays(a, context, l);
    if (status != COLLET_OK)
        bench_arrays_free(a);
    return status;
}

/* Returns the index of the backend whose arrays backend b uses. */
static int32_t owner(const calibration_run *run, const bench_layout *l, int32_t b)
{
    int32_t first = 0;
    if (l->bytes_read + l->bytes_written >= APART)
        return 0;
    while (run->backends[first].own_memory != run->backends[b].own_memory)
        first++;
    return run->backends[b].own_memory ? b : first;
}

void calibrate_measure(calibration_run *run, const bench_layout *l, double budget, double *seconds)
{
    bench_session *s = run->session;
    bench_arrays arrays[BENCH_LIST_MAX];
    bench_calls calls[BENCH_LIST_MAX];
    tool_sampler samplers[BENCH_LIST_MAX] = {{.body = NULL}};
    char error[COLLET_ERROR_TEXT];
    for (int32_t b = 0; b < run->count; b++)
        arrays[b] = (bench_arrays){{NULL}};
    for (int32_t b = 0; b < run->count; b++) {
        if (isnan(seconds[b]))
            continue;
        bench_arrays *own = &arrays[owner(run, l, b)];
        collet_status status = make_arrays(own, s->context, l);
        if (status == COLLET_OK)
            status = bench_calls_open(&calls[b], s, l, own, run->backends[b].name, error);
        if (status == COLLET_OK)
            status = tool_sampler_create(&samplers[b], bench_calls_run, &calls[b]);
        seconds[b] = status == COLLET_OK ? INFINITY : NAN;
    }
    for (int round = 0; round < ROUNDS; round++)
        for (int32_t b = 0; b < run->count; b++)
            if (!isnan(seconds[b]) &&
                (collet_set_backend(s->context, run->backends[b].name) != COLLET_OK ||
                 calibrate_turn(&samplers[b], budget / ROUNDS, &seconds[b]) != COLLET_OK))
                seconds[b] = NAN;
    for (int32_t b = 0; b < run->count; b++) {
        tool_sampler_clear(&samplers[b]);
        bench_arrays_free(&arrays[b]);
    }
}

void calibrate_measure_again(calibration_run *run, const bench_layout *l, double budget,
                             double *seconds)
{
    double again[BENCH_LIST_MAX];
    memcpy(again, seconds, (size_t)run->count * sizeof *again);
    calibrate_measure(run, l, budget, again);
    for (int32_t b = 0; b < run->count; b++)
        seconds[b] = fmin(seconds[b], again[b]);
}

static double least(const calibration_run *run, const double *seconds)
{
    double best = INFINITY;
    for (int32_t b = 0; b < run->count; b++)
        best = fmin(best, seconds[b]);
    return best;
}

double calibrate_rounded(double value)
{
    char text[32];
    snprintf(text, sizeof text, "%.3e", value);
    return strtod(text, NULL);
}

static int32_t add_point(cJSON *times, const char *key, double work, double seconds)
{
    cJSON *list = cJSON_GetObjectItemCaseSensitive(times, key);
    const double pair[] = {work, calibrate_rounded(seconds)};
    if (!list)
        list = cJSON_AddArrayToObject(times, key);
    cJSON *item = list ? cJSON_CreateDoubleArray(pair, 2) : NULL;
    return item && cJSON_AddItemToArray(list, item);
}

/* If a call took longer than the next call, which has more work, other programs disturbed it. The shorter time is then
 * recorded for both calls. */
static void remove_spikes(const cJSON *list)
{
    for (int i = cJSON_GetArraySize(list) - 2; i >= 0; i--) {
        cJSON *seconds = cJSON_GetArrayItem(cJSON_GetArrayItem(list, i), 1);
        double larger = cJSON_GetArrayItem(cJSON_GetArrayItem(list, i + 1), 1)->valuedouble;
        if (seconds->valuedouble > larger)
            cJSON_SetNumberValue(seconds, larger);
    }
}

/* Measures an op at growing sizes, until even the fastest backend would take too long. Beyond the last size
 * libcore assumes that all times are proportional to the work. 0 when out of memory. */
static int32_t measure_op(calibration_run *run, const bench_case *row, const char *dtype,
                          double budget)
{
    double seconds[BENCH_LIST_MAX] = {0}, last = 0, best = 0;
    double largest = strcmp(row->name, "matmul") ? LARGEST : LARGEST_PRODUCT;
    char key[CALIBRATE_KEY];
    int32_t fine = 1;
    bench_layout l;
    snprintf(key, sizeof key, "%s %s", row->name, dtype);
    for (double size = SMALLEST; size <= largest * 1.1 && fine && best * STEP < CALIBRATE_SLOWEST;
         size *= STEP) {
        if (!calibrate_layout(&l, run->session, row, dtype, size) || calibrate_work(&l) <= last)
            continue;
        last = calibrate_work(&l);
        calibrate_measure(run, &l, budget, seconds);
        /* Another backend replaces auto's first choice only if it is faster in two measurements. */
        if (least(run, seconds) < CALIBRATE_SAME * seconds[0])
            calibrate_measure_again(run, &l, budget, seconds);
        best = least(run, seconds);
        for (int32_t b = 0; b < run->count; b++) {
            if (isnan(seconds[b]))
                continue;
            fine =
                fine && add_point(cJSON_GetObjectItemCaseSensitive(run->backends[b].now, "times"),
                                  key, last, seconds[b]);
            if (seconds[b] * STEP > SLOWEST_ANY)
                seconds[b] = NAN;
        }
    }
    for (int32_t b = 0; b < run->count; b++)
        remove_spikes(cJSON_GetObjectItemCaseSensitive(
            cJSON_GetObjectItemCaseSensitive(run->backends[b].now, "times"), key));
    return fine;
}

/* ---- All ops ----------------------------------------------------------------------------- */

/* 1 if the earlier calibrations of all backends have this op and dtype. */
static int32_t is_known(const calibration_run *run, const char *key)
{
    for (int32_t b = 0; b < run->count; b++)
        if (isnan(calibrate_seconds(run->backends[b].before, key, 1)))
            return 0;
    return 1;
}

static int32_t has_dtype(const calibration_run *run, const bench_case *row, const char *dtype)
{
    bench_layout l;
    return calibrate_has_dtype(run, dtype) &&
           calibrate_layout(&l, run->session, row, dtype, SMALLEST * STEP);
}

/* Measures the op if it has the dtype, and if earlier calibrations have it (known = 1) or do not have it (known = 0). 0
 * when out of memory. */
static int32_t visit(calibration_run *run, const bench_case *row, const char *dtype, int32_t known)
{
    char key[CALIBRATE_KEY];
    double left = run->end - tool_now();
    double points = log10(STEP * LARGEST / SMALLEST) * run->count;
    double each = fmax(left, 0) / (run->possible - run->measured) / points;
    snprintf(key, sizeof key, "%s %s", row->name, dtype);
    if ((left <= 0 && run->measured) || is_known(run, key) != known || !has_dtype(run, row, dtype))
        return 1;
    bench_session_show(run->session, "calibrate: %s, %d of %d, %.0f s left", key,
                       (int)run->measured + 1, (int)run->possible, fmax(left, 0));
    run->measured++;
    return measure_op(run, row, dtype, fmin(fmax(each, BUDGET_MIN), BUDGET_MAX));
}

/* Ops that no earlier calibration has measured come first. */
int32_t calibrate_times(calibration_run *run)
{
    bench_case row;
    int32_t fine = 1;
    for (size_t i = 0; calibrate_op(run, &i, &row);)
        for (int d = 0; d < CALIBRATE_DTYPES; d++)
            run->possible += has_dtype(run, &row, dtypes[d]);
    for (int32_t known = 0; known < 2; known++)
        for (size_t i = 0; fine && calibrate_op(run, &i, &row);)
            for (int d = 0; d < CALIBRATE_DTYPES && fine; d++)
                fine = visit(run, &row, dtypes[d], known);
    return fine && calibrate_keep_old(run);
}

/* ---- Transfers --------------------------------------------------------------------------- */

#define LARGE ((int64_t)16 << 20) /* f32 numbers, 64 MiB */
#define SMALL ((int64_t)1 << 10)  /* 4 KiB */
#define TRANSFERS 5
#define TRANSFERS_SMALL 50
#define TRANSFERS_SHARE 0.1 /* the largest part of the time that transfers may take; the first are always made */

/* Measures transfers from the host's memory to the device's, and back. Sets seconds[0] and seconds[1] to the medians of
 * `count` transfers, or of the transfers until `end`. */
static collet_status time_transfers(collet_context *cx, const char *device, int64_t size,
                                    int32_t count, double end, double seconds[2])
{
    int32_t taken = 0;
    collet_array *a = NULL;
    void *data;
    double to[TRANSFERS_SMALL], from[TRANSFERS_SMALL];
    const collet_scalar one = {.dtype = COLLET_F32, .value.f32 = 1};
    tool_stats stats;
    collet_status status = collet_array_create(cx, &a, COLLET_F32, 1, &size);
    for (int32_t i = -1; i < count && status == COLLET_OK && (i < 1 || tool_now() < end); i++) {
        status = collet_array_acquire(cx, a, &data, COLLET_WRITE);
        if (status != COLLET_OK)
            break;
        memset(data, 0, (size_t)size * sizeof(float));
        status = collet_array_release(cx, a);
        double begin = tool_now();
        if (status == COLLET_OK)
            status = collet_array_prefetch(cx, a, device);
        if (status == COLLET_OK)
            status = collet_finish(cx);
        if (i >= 0) /* the first transfer is a warm-up */
            to[i] = tool_now() - begin;
        if (status == COLLET_OK)
            status = collet_op_fill(cx, a, &one);
        if (status == COLLET_OK)
            status = collet_finish(cx);
        begin = tool_now();
        if (status == COLLET_OK)
            status = collet_array_acquire(cx, a, &data, COLLET_READ);
        if (i >= 0)
            from[i] = tool_now() - begin;
        taken = i + 1;
        if (status == COLLET_OK)
            status = collet_array_release(cx, a);
    }
    collet_array_destroy(a);
    if (status != COLLET_OK)
        return status;
    tool_stats_of(to, taken, 1, &stats);
    seconds[0] = stats.median;
    tool_stats_of(from, taken, 1, &stats);
    seconds[1] = stats.median;
    return COLLET_OK;
}

static int32_t add_transfer(cJSON *document, const double *small, const double *large)
{
    double latency = (small[0] + small[1]) / 2, bytes = (double)LARGE * sizeof(float);
    cJSON *transfer = cJSON_AddObjectToObject(document, "transfer");
    return transfer &&
           cJSON_AddNumberToObject(transfer, "to_device",
                                   calibrate_rounded(bytes / fmax(large[0] - latency, 1e-9))) &&
           cJSON_AddNumberToObject(transfer, "to_host",
                                   calibrate_rounded(bytes / fmax(large[1] - latency, 1e-9))) &&
           cJSON_AddNumberToObject(transfer, "latency", calibrate_rounded(fmax(latency, 1e-9)));
}

int32_t calibrate_transfers(calibration_run *run)
{
    bench_session *s = run->session;
    double small[2], large[2];
    int32_t fine = 1;
    for (int32_t b = 0; b < run->count && fine; b++) {
        const calibrated *of = &run->backends[b];
        if (!of->own_memory)
            continue;
        bench_session_show(s, "calibrate: transfers to and from %s", of->name);
        double end = tool_now() + TRANSFERS_SHARE * s->options->seconds;
        if (collet_set_backend(s->context, of->name) == COLLET_OK &&
            time_transfers(s->context, of->name, SMALL, TRANSFERS_SMALL, end, small) == COLLET_OK &&
            time_transfers(s->context, of->name, LARGE, TRANSFERS, end, large) == COLLET_OK)
            fine = add_transfer(of->now, small, large);
    }
    return fine;
}
