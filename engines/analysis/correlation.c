/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_analysis.c */
#include "analysis/correlation.h"

#include "analysis/series.h"

#include <collet/analysis.h>
#include <collet/ops/fft.h>

#include <stdlib.h>
#include <string.h>

collet_status analysis_correlation_open(analysis_correlation *c, collet_context *context,
                                        int64_t frames, int64_t blocks, int64_t rows,
                                        collet_error *err)
{
    int64_t length = blocks > 0 ? frames / blocks : 0;
    collet_status status = analysis_power_open(&c->whole, context, 1, frames, rows, err);

    if (status != COLLET_OK)
        return status;
    status = analysis_power_open(&c->parts, context, blocks, length, rows, err);
    if (status != COLLET_OK)
        analysis_power_close(&c->whole);
    return status;
}

void analysis_correlation_close(analysis_correlation *c)
{
    analysis_power_close(&c->whole);
    analysis_power_close(&c->parts);
}

collet_status analysis_correlation_add(analysis_correlation *c, const double *rows, int64_t count,
                                       collet_error *err)
{
    int64_t frames = c->whole.length;
    collet_status status = analysis_power_add(&c->whole, rows, frames, count, err);

    return status == COLLET_OK ? analysis_power_add(&c->parts, rows, frames, count, err) : status;
}

static collet_status finish_one(analysis_power *power, double *curves, double scale,
                                collet_error *err)
{
    collet_status status = analysis_power_pairs(power, curves, err);

    for (int64_t p = 0; status == COLLET_OK && p < power->parts; p++)
        for (int64_t k = 0; k < power->length; k++)
            curves[p * power->length + k] *= scale / (double)(power->length - k);
    return status;
}

collet_status analysis_correlation_finish(analysis_correlation *c, double *whole, double *parts,
                                          double scale, collet_error *err)
{
    collet_status status = finish_one(&c->whole, whole, scale, err);

    return status == COLLET_OK ? finish_one(&c->parts, parts, scale, err) : status;
}

/* Subtracts the mean of a row from it; a constant row becomes exactly 0. */
static void center(double *row, int64_t frames)
{
    double first = row[0], mean = 0;

    for (int64_t t = 0; t < frames; t++)
        mean += row[t] -= first;
    mean /= (double)frames;
    for (int64_t t = 0; t < frames; t++)
        row[t] -= mean;
}

static collet_status add_all(analysis_correlation *c, analysis_series *series, int centered,
                             collet_error *err)
{
    int64_t count, body = 0;
    collet_status status;

    while ((status = analysis_series_load(series, &count, body, err)) == COLLET_OK && count > 0) {
        int64_t rows = count * series->components;
        for (int64_t r = 0; centered && r < rows; r++)
            center(series->numbers + r * series->frames, series->frames);
        status = analysis_correlation_add(c, series->numbers, rows, err);
        if (status != COLLET_OK)
            return status;
        body += count;
    }
    return status;
}

collet_status collet_analysis_autocorrelation(collet_context *context, double *whole, double *parts,
                                              const collet_array *x, int64_t blocks,
                                              int32_t subtract_mean, collet_error *err)
{
    analysis_series series;
    analysis_correlation c;
    collet_status status = analysis_series_open(&series, context, x, "x",
                                                collet_array_ndim(x) == 1 ? 1 : 3, blocks, err);

    if (status != COLLET_OK)
        return status;
    status = analysis_correlation_open(&c, context, series.frames, blocks,
                                       series.at_once * series.components, err);
    if (status == COLLET_OK) {
        status = add_all(&c, &series, subtract_mean, err);
        if (status == COLLET_OK)
            status = analysis_correlation_finish(&c, whole, parts, 1 / (double)series.bodies, err);
        if (status == COLLET_OK)
            status = analysis_series_check(&series, whole[0], err);
        analysis_correlation_close(&c);
    }
    analysis_series_close(&series);
    return status;
}

/* Returns the smallest number >= `least` without prime factors above 5: FFTs of such lengths are fast. */
static int64_t smooth(int64_t least)
{
    int64_t found = 1;

    while (found < least)
        found *= 2;
    for (int64_t odd = 1; odd < found; odd *= 3)
        for (int64_t five = odd; five < found; five *= 5) {
            int64_t even = five;
            while (even < least)
                even *= 2;
            found = even < found ? even : found;
        }
    return found;
}

collet_status analysis_power_open(analysis_power *power, collet_context *context, int64_t parts,
                                  int64_t length, int64_t rows, collet_error *err)
{
    *power = (analysis_power){.context = context, .parts = parts, .length = length};
    if (parts == 0 || length == 0)
        return COLLET_OK;
    power->points = smooth(2 * length - 1);
    int64_t half = power->points / 2 + 1;
    int64_t most = ANALYSIS_AT_ONCE / 8 / power->points; /* fits in caches */
    /* at_once also limits how many of the `parts` sums analysis_power_pairs transforms at a time. */
    power->at_once = rows * parts < most ? rows * parts : most;
    power->at_once = power->at_once < 1 ? 1 : power->at_once;
    power->sums = calloc((size_t)(parts * half), sizeof *power->sums);
    power->padded = calloc((size_t)(power->at_once * power->points), sizeof *power->padded);
    power->spectra = malloc((size_t)(power->at_once * half) * 2 * sizeof *power->spectra);
    if (power->sums != NULL && power->padded != NULL && power->spectra != NULL)
        return COLLET_OK;
    analysis_power_close(power);
    return collet_fail(err, COLLET_NO_MEMORY, "no memory for the spectra of %lld frames",
                       (long long)length);
}

void analysis_power_close(analysis_power *power)
{
    free(power->sums);
    free(power->padded);
    free(power->spectra);
    *power = (analysis_power){0};
}

/* Computes the Fourier transform of the real numbers `padded` into `spectra`; if `inverse`, transforms back. */
static collet_status transform(analysis_power *power, int64_t rows, int inverse, collet_error *err)
{
    collet_context *context = power->context;
    const int64_t real[] = {rows, power->points}, half[] = {rows, power->points / 2 + 1};
    collet_array *a = NULL, *b = NULL;
    void *data;
    collet_status status =
        collet_array_wrap(context, &a, COLLET_F64, 2, real, NULL, power->padded, 0, NULL, NULL);

    if (status == COLLET_OK)
        status = collet_array_wrap(context, &b, COLLET_C128, 2, half, NULL, power->spectra, 0, NULL,
                                   NULL);
    if (status == COLLET_OK)
        status = collet_op_fft(context, inverse ? a : b, inverse ? b : a, 1, inverse);
    if (status == COLLET_OK)
        status = collet_array_acquire(context, inverse ? a : b, &data, COLLET_READ);
    if (status == COLLET_OK)
        status = collet_array_release(context, inverse ? a : b);
    if (status != COLLET_OK)
        status = analysis_failed(context, status, err);
    collet_array_destroy(a);
    collet_array_destroy(b);
    return status;
}

/* Returns part i, where i counts the parts of all rows. The caller copies it into `padded`, whose remaining elements
 * are 0. */
static const double *part_of(const analysis_power *power, const double *rows, int64_t stride,
                             int64_t i)
{
    return rows + i / power->parts * stride + i % power->parts * power->length;
}

collet_status analysis_power_add(analysis_power *power, const double *rows, int64_t stride,
                                 int64_t count, collet_error *err)
{
    int64_t total = power->length == 0 ? 0 : count * power->parts;
    int64_t half = power->points / 2 + 1;

    for (int64_t first = 0; first < total; first += power->at_once) {
        int64_t n = total - first < power->at_once ? total - first : power->at_once;
        for (int64_t i = 0; i < n; i++)
            memcpy(power->padded + i * power->points, part_of(power, rows, stride, first + i),
                   (size_t)power->length * sizeof *rows);
        collet_status status = transform(power, n, 0, err);
        if (status != COLLET_OK)
            return status;
        for (int64_t i = 0; i < n; i++) {
            double *sum = power->sums + (first + i) % power->parts * half;
            const double *from = power->spectra + i * half * 2;
            for (int64_t k = 0; k < half; k++)
                sum[k] += from[2 * k] * from[2 * k] + from[2 * k + 1] * from[2 * k + 1];
        }
    }
    return COLLET_OK;
}

collet_status analysis_power_pairs(analysis_power *power, double *pairs, collet_error *err)
{
    int64_t half = power->points / 2 + 1, parts = power->length == 0 ? 0 : power->parts;

    for (int64_t first = 0; first < parts; first += power->at_once) {
        int64_t n = parts - first < power->at_once ? parts - first : power->at_once;
        for (int64_t i = 0; i < n * half; i++) {
            power->spectra[2 * i] = power->sums[first * half + i];
            power->spectra[2 * i + 1] = 0;
        }
        collet_status status = transform(power, n, 1, err);
        if (status != COLLET_OK)
            return status;
        for (int64_t i = 0; i < n; i++)
            memcpy(pairs + (first + i) * power->length, power->padded + i * power->points,
                   (size_t)power->length * sizeof *pairs);
    }
    return COLLET_OK;
}
