/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/test_bench_studies.c */
#include "study.h"

#include <math.h>
#include <stdlib.h>

int32_t study_dtypes(const bench_session *s)
{
    return s->options->dtype_count ? s->options->dtype_count : 1;
}

const char *study_dtype(const bench_session *s, int32_t i)
{
    return s->options->dtype_count ? s->options->dtypes[i] : NULL;
}

collet_status study_case(const bench_session *s, bench_case *row, collet_error *err)
{
    const bench_options *o = s->options;
    if (!o->op)
        return collet_fail(err, COLLET_INVALID, "%s: name an op that --list lists", o->what);
    return bench_case_find(s->runtime, o->op, row, err);
}

int study_each_dtype(bench_session *s, const bench_column *columns, int32_t count,
                     int (*measure)(bench_table *table, const bench_layout *layout))
{
    bench_case row;
    bench_layout layout;
    bench_table table;
    collet_error err;
    int result = BENCH_EXIT_OK;
    collet_status status = study_case(s, &row, &err);
    for (int32_t i = 0; i < study_dtypes(s) && status == COLLET_OK; i++)
        status = bench_layout_make(&layout, s->runtime, &row, s->options, study_dtype(s, i), &err);
    if (status == COLLET_OK)
        status = bench_table_open(&table, s, columns, count, &err);
    if (status != COLLET_OK)
        return bench_complain(status, err.text);
    for (int32_t i = 0; i < study_dtypes(s); i++) {
        bench_layout_make(&layout, s->runtime, &row, s->options, study_dtype(s, i), &err);
        int failed = measure(&table, &layout);
        result = failed ? failed : result;
    }
    return bench_table_close(&table, result);
}

bench_turn *study_turns(const bench_session *s)
{
    bench_turn *turns = calloc((size_t)s->choice_count, sizeof *turns);
    for (int32_t i = 0; turns && i < s->choice_count; i++)
        turns[i].choice = s->choices[i];
    return turns;
}

double study_rate(const bench_layout *l, double seconds)
{
    return 1e-9 * (l->flops > 0 ? l->flops : l->bytes_read + l->bytes_written) / seconds;
}

const char *study_shape(const bench_layout *l, char text[BENCH_SHAPE_TEXT])
{
    return bench_shape_text(l->shape.count, l->shape.extents, text);
}

double study_roof(double intensity, double bandwidth, double peak)
{
    return isnan(intensity) ? bandwidth : fmin(intensity * bandwidth, peak);
}

/* ---- Runs -------------------------------------------------------------------------------- */

double study_drift(const double *medians, int32_t count)
{
    double mean = 0, middle = (count - 1) / 2.0, products = 0, squares = 0;
    for (int32_t i = 0; i < count; i++)
        mean += medians[i] / count;
    for (int32_t i = 0; i < count; i++) {
        products += (i - middle) * (medians[i] - mean);
        squares += (i - middle) * (i - middle);
    }
    return squares > 0 ? products / squares * (count - 1) / mean : 0;
}

static void range(const double *values, int32_t count, double *low, double *high)
{
    *low = *high = values[0];
    for (int32_t i = 1; i < count; i++) {
        *low = fmin(*low, values[i]);
        *high = fmax(*high, values[i]);
    }
}

int32_t study_drifts(const double *medians, int32_t count)
{
    double low[2], high[2];
    int32_t half = count / 2;
    range(medians, half, &low[0], &high[0]);
    range(medians + count - half, half, &low[1], &high[1]);
    return low[1] > 1.05 * high[0] || low[0] > 1.05 * high[1];
}

double study_jitter(const double *values, int64_t count, double median)
{
    double sum = 0;
    for (int64_t i = 1; i < count; i++)
        sum += fabs(values[i] - values[i - 1]);
    return count > 1 ? sum / (double)(count - 1) / median : 0;
}

int32_t study_leaks(const double *bytes, int32_t count, double tolerance)
{
    int32_t grown = 0;
    for (int32_t i = 1; i < count; i++) {
        grown += bytes[i] > bytes[i - 1];
        if (bytes[i - 1] - bytes[i] > tolerance)
            return 0;
    }
    return bytes[count - 1] - bytes[0] > tolerance && 2 * grown > count - 1;
}
