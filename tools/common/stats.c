/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/test_bench_parts.c */
#include "stats.h"

#include "json_add.h"

#include <math.h>
#include <stdlib.h>

static int by_size(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Computes a percentile as numpy.percentile does by default. */
static double percentile(const double *sorted, uint64_t count, double share)
{
    double at = share * (double)(count - 1);
    uint64_t low = (uint64_t)at;
    if (low + 1 >= count)
        return sorted[count - 1];
    return sorted[low] + (at - (double)low) * (sorted[low + 1] - sorted[low]);
}

/* Computes statistics as numpy.mean, std, median and percentile do; a NaN makes all statistics NaN. */
static void fill(double *sorted, uint64_t count, tool_stats *s)
{
    double sum = 0.0, squares = 0.0;
    for (uint64_t i = 0; i < count; i++)
        sum += sorted[i];
    s->mean = sum / (double)count;
    if (isnan(sum)) {
        s->std = s->median = s->p95 = s->p99 = s->min = s->max = s->mean;
        return;
    }
    for (uint64_t i = 0; i < count; i++)
        squares += (sorted[i] - s->mean) * (sorted[i] - s->mean);
    qsort(sorted, (size_t)count, sizeof *sorted, by_size);
    s->std = sqrt(squares / (double)count);
    s->median = percentile(sorted, count, 0.5);
    s->p95 = percentile(sorted, count, 0.95);
    s->p99 = percentile(sorted, count, 0.99);
    s->min = sorted[0];
    s->max = sorted[count - 1];
}

void tool_stats_of(double *seconds, int64_t count, int64_t calls, tool_stats *out)
{
    *out = (tool_stats){.samples = count, .calls_per_sample = calls};
    for (int64_t i = 0; i < count; i++)
        seconds[i] /= (double)calls;
    fill(seconds, (uint64_t)count, out);
}

cJSON *tool_stats_json(const tool_stats *s)
{
    cJSON *object = cJSON_CreateObject();
    if (object && json_add_number(object, "mean", s->mean) &&
        json_add_number(object, "median", s->median) && json_add_number(object, "std", s->std) &&
        json_add_number(object, "p95", s->p95) && json_add_number(object, "p99", s->p99) &&
        json_add_number(object, "min", s->min) && json_add_number(object, "max", s->max))
        return object;
    cJSON_Delete(object);
    return NULL;
}
