/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_analysis.c */
#include "analysis/correlation.h"
#include "analysis/series.h"

#include <collet/analysis.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TENSOR 6 /* independent elements of the symmetric 3 x 3 matrix u u^T */

typedef struct rotation {
    analysis_correlation first, second;
    analysis_series series;
    int64_t blocks, length;
    double
        *tensors;  /* at_once x TENSOR x frames: u u^T - I/3; the inner product for u and v is (u.v)^2 - 1/3 */
    double *means; /* blocks: the mean of a row of tensors over each block */
    double s2;
    double *s2_without; /* blocks */
} rotation;

/* Divides the axes of one body, 3 x frames, by their lengths. */
static collet_status normalise(const analysis_series *series, double *u, int64_t body,
                               collet_error *err)
{
    int64_t frames = series->frames;

    for (int64_t t = 0; t < frames; t++) {
        double *v[] = {u + t, u + frames + t, u + 2 * frames + t};
        double most = fmax(fmax(fabs(*v[0]), fabs(*v[1])), fabs(*v[2])), length = 0;
        if (most == 0)
            return analysis_series_refuse(series, "have length 0", "", t, body, -1, err);
        /* Divides by the largest component first, because squares could overflow or underflow f64. */
        for (int i = 0; i < 3; i++) {
            *v[i] /= most;
            length += *v[i] * *v[i];
        }
        length = sqrt(length);
        for (int i = 0; i < 3; i++)
            *v[i] /= length;
    }
    return COLLET_OK;
}

/* Sets `to`, TENSOR x frames, to the tensors of the unit vectors `u`, 3 x frames. */
static void make_tensors(double *to, const double *u, int64_t frames)
{
    static const int pairs[TENSOR][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};

    for (int p = 0; p < TENSOR; p++) {
        const double *a = u + pairs[p][0] * frames, *b = u + pairs[p][1] * frames;
        double factor = p < 3 ? 1 : sqrt(2), less = p < 3 ? 1.0 / 3 : 0;
        for (int64_t t = 0; t < frames; t++)
            to[p * frames + t] = factor * a[t] * b[t] - less;
    }
}

static double mean_of(const double *row, int64_t n)
{
    double sum = 0;

    for (int64_t t = 0; t < n; t++)
        sum += row[t];
    return sum / (double)n;
}

/* Adds the contribution of a row of tensors to S^2 of all frames, and to each S^2 that leaves out one block. */
static void add_order(rotation *r, const double *row)
{
    double mean = mean_of(row, r->series.frames), sum = 0;

    r->s2 += 1.5 * mean * mean;
    if (r->length == 0)
        return;
    for (int64_t b = 0; b < r->blocks; b++)
        sum += r->means[b] = mean_of(row + b * r->length, r->length);
    for (int64_t b = 0; b < r->blocks; b++) {
        double rest = (sum - r->means[b]) / (double)(r->blocks - 1);
        r->s2_without[b] += 1.5 * rest * rest;
    }
}

static collet_status add_all(rotation *r, collet_error *err)
{
    analysis_series *series = &r->series;
    int64_t count, body = 0, frames = series->frames;
    collet_status status;

    while ((status = analysis_series_load(series, &count, body, err)) == COLLET_OK && count > 0) {
        for (int64_t b = 0; b < count && status == COLLET_OK; b++) {
            double *u = series->numbers + b * 3 * frames, *to = r->tensors + b * TENSOR * frames;
            status = normalise(series, u, body + b, err);
            make_tensors(to, u, frames);
            for (int i = 0; i < TENSOR; i++)
                add_order(r, to + i * frames);
        }
        if (status == COLLET_OK)
            status = analysis_correlation_add(&r->first, series->numbers, 3 * count, err);
        if (status == COLLET_OK)
            status = analysis_correlation_add(&r->second, r->tensors, TENSOR * count, err);
        if (status != COLLET_OK)
            return status;
        body += count;
    }
    return status;
}

static collet_status run(rotation *r, collet_analysis_rotation_curves *curves, collet_error *err)
{
    double bodies = (double)r->series.bodies;
    collet_status status = add_all(r, err);

    if (status == COLLET_OK)
        status =
            analysis_correlation_finish(&r->first, curves->c1, curves->c1_parts, 1 / bodies, err);
    if (status == COLLET_OK)
        status = analysis_correlation_finish(&r->second, curves->c2, curves->c2_parts, 1.5 / bodies,
                                             err);
    if (status != COLLET_OK)
        return status;
    curves->s2 = r->s2 / bodies;
    for (int64_t b = 0; r->length > 0 && b < r->blocks; b++)
        curves->s2_without[b] = r->s2_without[b] / bodies;
    return COLLET_OK;
}

static collet_status open_sums(rotation *r, collet_context *context, collet_error *err)
{
    int64_t frames = r->series.frames, at_once = r->series.at_once;
    collet_status status =
        analysis_correlation_open(&r->first, context, frames, r->blocks, 3 * at_once, err);

    if (status != COLLET_OK)
        return status;
    status =
        analysis_correlation_open(&r->second, context, frames, r->blocks, TENSOR * at_once, err);
    if (status != COLLET_OK) {
        analysis_correlation_close(&r->first);
        return status;
    }
    r->tensors = malloc((size_t)(at_once * TENSOR * frames) * sizeof *r->tensors);
    r->means = calloc((size_t)r->blocks * 2 + 1, sizeof *r->means);
    r->s2_without = r->means ? r->means + r->blocks : NULL;
    if (r->tensors != NULL && r->means != NULL)
        return COLLET_OK;
    analysis_correlation_close(&r->first);
    analysis_correlation_close(&r->second);
    free(r->tensors);
    free(r->means);
    return collet_fail(err, COLLET_NO_MEMORY, "no memory for %lld frames", (long long)frames);
}

collet_status collet_analysis_rotation(collet_context *context,
                                       collet_analysis_rotation_curves *curves,
                                       const collet_array *axes, int64_t blocks, collet_error *err)
{
    collet_analysis_rotation_curves own = {0};
    size_t size = curves->struct_size < sizeof own ? curves->struct_size : sizeof own;
    rotation r = {.blocks = blocks};

    memcpy(&own, curves, size);
    if (own.reserved != 0)
        return collet_fail(err, COLLET_INVALID, "curves: reserved must be 0");
    collet_status status =
        analysis_series_open(&r.series, context, axes, "axes", 3 + TENSOR, blocks, err);
    if (status != COLLET_OK)
        return status;
    r.length = blocks > 1 ? r.series.frames / blocks : 0;
    if (r.series.components != 3)
        status = collet_fail(err, COLLET_SHAPE, "axes have one component; they must have 3");
    if (status == COLLET_OK)
        status = open_sums(&r, context, err);
    if (status == COLLET_OK) {
        status = run(&r, &own, err);
        memcpy(curves, &own, size);
        analysis_correlation_close(&r.first);
        analysis_correlation_close(&r.second);
        free(r.tensors);
        free(r.means);
    }
    analysis_series_close(&r.series);
    return status;
}
