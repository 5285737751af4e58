/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_analysis.c */
#include "analysis/correlation.h"

#include "analysis/series.h"

#include <collet/analysis.h>

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
