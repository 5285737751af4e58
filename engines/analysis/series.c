/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_analysis.c */
#include "analysis/series.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

collet_status analysis_failed(collet_context *context, collet_status status, collet_error *err)
{
    return collet_fail(err, status, "%s", collet_last_error(context));
}

static collet_status check_shape(const collet_array *x, const char *name, int64_t blocks,
                                 collet_error *err)
{
    int32_t ndim = collet_array_ndim(x);
    const int64_t *shape = collet_array_shape(x);
    collet_dtype dtype = collet_array_dtype(x);

    if (ndim < 1 || ndim > 3 || (ndim > 1 && shape[ndim - 1] != 1 && shape[ndim - 1] != 3))
        return collet_fail(err, COLLET_SHAPE,
                           "%s must be frames, frames x components or frames x bodies x "
                           "components, with 1 or 3 components",
                           name);
    if (collet_array_size(x) == 0)
        return collet_fail(err, COLLET_SHAPE, "%s has no elements: there is nothing to average",
                           name);
    if (dtype != COLLET_F32 && dtype != COLLET_F64)
        return collet_fail(err, COLLET_DTYPE, "%s is %s; it must be f32 or f64", name,
                           collet_dtype_name(dtype));
    if (blocks < 0)
        return collet_fail(err, COLLET_INVALID, "blocks is %lld; it must not be negative",
                           (long long)blocks);
    return COLLET_OK;
}

collet_status analysis_series_open(analysis_series *series, collet_context *context,
                                   const collet_array *x, const char *name, int64_t rows,
                                   int64_t blocks, collet_error *err)
{
    collet_array *whole = NULL;
    collet_status status = check_shape(x, name, blocks, err);

    if (status != COLLET_OK)
        return status;
    const int64_t *shape = collet_array_shape(x);
    *series = (analysis_series){.context = context, .name = name, .ndim = collet_array_ndim(x)};
    series->frames = shape[0];
    series->bodies = series->ndim == 3 ? shape[1] : 1;
    series->components = series->ndim == 1 ? 1 : shape[series->ndim - 1];
    status = collet_array_reshape(context, x, &whole, 3,
                                  (int64_t[]){series->frames, series->bodies, series->components});
    if (status == COLLET_OK)
        status = collet_array_permute(context, whole, &series->rows, (int32_t[]){1, 2, 0});
    collet_array_destroy(whole);
    if (status != COLLET_OK)
        return analysis_failed(context, status, err);
    series->at_once = ANALYSIS_AT_ONCE / (2 * rows) / series->frames;
    series->at_once = series->at_once < 1 ? 1 : series->at_once;
    if (series->at_once > series->bodies)
        series->at_once = series->bodies;
    /* f32 values are read into the second half of this memory, then widened to f64 from its start on. */
    series->numbers =
        malloc((size_t)(series->at_once * series->components * series->frames) * sizeof(double));
    if (series->numbers == NULL) {
        analysis_series_close(series);
        return collet_fail(err, COLLET_NO_MEMORY, "no memory for %lld frames of %s",
                           (long long)series->frames, name);
    }
    return COLLET_OK;
}

void analysis_series_close(analysis_series *series)
{
    free(series->numbers);
    collet_array_destroy(series->rows);
    *series = (analysis_series){0};
}

collet_status analysis_series_refuse(const analysis_series *series, const char *what,
                                     const char *advice, int64_t frame, int64_t body,
                                     int64_t component, collet_error *err)
{
    char where[2][40] = {"", ""};

    if (series->ndim == 3)
        snprintf(where[0], sizeof where[0], ", body %lld", (long long)body);
    if (series->ndim > 1 && component >= 0)
        snprintf(where[1], sizeof where[1], ", component %lld", (long long)component);
    return collet_fail(err, COLLET_INVALID, "%s %s at frame %lld%s%s%s", series->name, what,
                       (long long)frame, where[0], where[1], advice);
}

/* x - x is NaN if x is infinite or NaN: one test after a loop without branches finds all such numbers. */
static collet_status check_finite(const analysis_series *series, int64_t body, int64_t n,
                                  collet_error *err)
{
    double wrong = 0;

    for (int64_t i = 0; i < n; i++)
        wrong += series->numbers[i] - series->numbers[i];
    if (wrong == 0)
        return COLLET_OK;
    for (int64_t i = 0; i < n; i++) {
        double x = series->numbers[i];
        int64_t row = i / series->frames;
        if (isfinite(x))
            continue;
        return analysis_series_refuse(series,
                                      isnan(x) ? "is nan"
                                      : x > 0  ? "is inf"
                                               : "is -inf",
                                      ": leave such frames out, or interpolate", i % series->frames,
                                      body + row / series->components, row % series->components,
                                      err);
    }
    return COLLET_OK;
}

collet_status analysis_series_load(analysis_series *series, int64_t *count, int64_t body,
                                   collet_error *err)
{
    int64_t rows = series->components, frames = series->frames;
    int64_t bodies =
        series->bodies - body < series->at_once ? series->bodies - body : series->at_once;
    int64_t n = bodies * rows * frames;
    int single = collet_array_dtype(series->rows) == COLLET_F32;
    collet_array *part = NULL;

    *count = bodies;
    if (bodies == 0)
        return COLLET_OK;
    float *narrow = (float *)series->numbers + n;
    collet_status status =
        collet_array_slice(series->context, series->rows, &part, 0, body, bodies, 1);
    if (status == COLLET_OK)
        status = collet_array_read(series->context, part,
                                   single ? (void *)narrow : (void *)series->numbers,
                                   (size_t)n * (single ? sizeof(float) : sizeof(double)));
    collet_array_destroy(part);
    if (status != COLLET_OK)
        return analysis_failed(series->context, status, err);
    for (int64_t i = 0; single && i < n; i++)
        series->numbers[i] = (double)narrow[i];
    return check_finite(series, body, n, err);
}

collet_status analysis_series_check(const analysis_series *series, double first, collet_error *err)
{
    if (isfinite(first))
        return COLLET_OK;
    return collet_fail(err, COLLET_INVALID,
                       "the squares of %s are too large for f64: divide it by a scale",
                       series->name);
}
