/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_analysis.c */
#include "analysis/correlation.h"
#include "analysis/series.h"

#include <collet/analysis.h>
#include <stdlib.h>

/* Subtracts the line through the first and the last frame from each row, and adds the displacement
 * along the line to the means at the end. A large drift would otherwise cost digits by cancellation. */
typedef struct displacement {
    analysis_correlation pairs;
    int64_t frames;
    double speed;    /* sum over rows of slope^2 */
    double *squares; /* [frames]: sums over rows of residual^2 */
    double *along;   /* [frames]: sums over rows of slope * residual */
} displacement;

static void remove_line(displacement *d, double *row)
{
    int64_t frames = d->frames;
    double first = row[0];
    double slope = (row[frames - 1] - first) / (double)(frames > 1 ? frames - 1 : 1);
    double mean = 0;

    for (int64_t t = 0; t < frames; t++)
        mean += row[t] -= first + slope * (double)t;
    mean /= (double)frames;
    d->speed += slope * slope;
    for (int64_t t = 0; t < frames; t++) {
        row[t] -= mean;
        d->squares[t] += row[t] * row[t];
        d->along[t] += slope * row[t];
    }
}

static collet_status add_all(displacement *d, analysis_series *series, collet_error *err)
{
    int64_t count, body = 0;
    collet_status status;

    while ((status = analysis_series_load(series, &count, body, err)) == COLLET_OK && count > 0) {
        int64_t rows = count * series->components;
        for (int64_t r = 0; r < rows; r++)
            remove_line(d, series->numbers + r * series->frames);
        status = analysis_correlation_add(&d->pairs, series->numbers, rows, err);
        if (status != COLLET_OK)
            return status;
        body += count;
    }
    return status;
}

/* On entry curve[k] is the sum over t of x[t] x[t + k] of n frames; it becomes the mean square
 * displacement. */
static void finish(double *curve, const double *squares, const double *along, int64_t n,
                   double speed, double bodies)
{
    double early = 0, late = 0, before = 0, after = 0; /* sums over t < n - k, and over t >= k */

    for (int64_t k = n - 1; k >= 0; k--) {
        early += squares[n - 1 - k];
        before += along[n - 1 - k];
        late += squares[k];
        after += along[k];
        double pairs = early + late - 2 * curve[k] + 2 * (double)k * (after - before);
        double mean = pairs / (double)(n - k) + speed * (double)k * (double)k;
        /* Rounding may leave small negative numbers. */
        curve[k] = mean < 0 || k == 0 ? 0 : mean / bodies;
    }
}

static collet_status finish_all(displacement *d, const analysis_series *series, double *whole,
                                double *parts, collet_error *err)
{
    const analysis_power *blocks = &d->pairs.parts;
    collet_status status = analysis_power_pairs(&d->pairs.whole, whole, err);

    if (status == COLLET_OK)
        status = analysis_power_pairs(&d->pairs.parts, parts, err);
    if (status == COLLET_OK)
        status = analysis_series_check(series, whole[0] + d->speed, err);
    if (status != COLLET_OK)
        return status;
    finish(whole, d->squares, d->along, d->frames, d->speed, (double)series->bodies);
    for (int64_t p = 0; p < blocks->parts; p++)
        finish(parts + p * blocks->length, d->squares + p * blocks->length,
               d->along + p * blocks->length, blocks->length, d->speed, (double)series->bodies);
    return analysis_series_check(series, whole[d->frames - 1], err);
}

collet_status collet_analysis_displacement(collet_context *context, double *whole, double *parts,
                                           const collet_array *x, int64_t blocks, collet_error *err)
{
    analysis_series series;
    displacement d = {0};
    collet_status status = analysis_series_open(&series, context, x, "x",
                                                collet_array_ndim(x) == 1 ? 1 : 3, blocks, err);

    if (status != COLLET_OK)
        return status;
    d.frames = series.frames;
    status = analysis_correlation_open(&d.pairs, context, series.frames, blocks,
                                       series.at_once * series.components, err);
    if (status == COLLET_OK) {
        d.squares = calloc((size_t)series.frames * 2, sizeof *d.squares);
        d.along = d.squares ? d.squares + series.frames : NULL;
        if (d.squares == NULL)
            status = collet_fail(err, COLLET_NO_MEMORY, "no memory for sums of %lld frames",
                                 (long long)series.frames);
        if (status == COLLET_OK)
            status = add_all(&d, &series, err);
        if (status == COLLET_OK)
            status = finish_all(&d, &series, whole, parts, err);
        free(d.squares);
        analysis_correlation_close(&d.pairs);
    }
    analysis_series_close(&series);
    return status;
}
